/** What the process that opens stores is told, and what it says. */

/** The services whose directories are opened. */
export type StoreKind = "peer" | "metadata"

/** Make sound directories, or open one as its service does. */
export type StoreOrder =
  | { readonly _tag: "Make"; readonly directory: string }
  | { readonly _tag: "Open"; readonly kind: StoreKind; readonly directory: string }

/** How it ended; refusals are sentences, faults are what no service may do. */
export type StoreReport =
  | { readonly _tag: "Made"; readonly peer: string; readonly metadata: string }
  | { readonly _tag: "Opened"; readonly refusals: ReadonlyArray<string> }
  | { readonly _tag: "Faulty"; readonly text: string }
