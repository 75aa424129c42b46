/** What the splitters of text share: the pieces they cut, and what can be wrong with the text. */

/** A piece of text that becomes a record. */
export interface TextPiece {
  readonly position: bigint
  readonly bytes: Uint8Array
}

/** What is wrong with a text: in which line, what, and what would be right. */
export interface TextFault {
  readonly code: "malformed" | "too-large"
  readonly line: number
  readonly message: string
}

/** Cuts a text that arrives in chunks into pieces. */
export interface TextSplitter {
  /** Takes the next bytes; answers the first fault, after which it takes no more. */
  readonly push: (chunk: Uint8Array, pieces: Array<TextPiece>) => TextFault | undefined
  /** Takes the end of the text. */
  readonly end: (pieces: Array<TextPiece>) => TextFault | undefined
}

/** How a splitter cuts. */
export interface SplitterOptions {
  /** Bytes of the largest piece. */
  readonly pieceBytesMax: number
  /** Pieces up to here were read before: they are counted, not checked and not given out. */
  readonly after: bigint
}

const decoder = new TextDecoder("utf-8", { fatal: true })

/** Why bytes are no JSON value, or `undefined` if they are one. */
export const jsonFault = (bytes: Uint8Array): string | undefined => {
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    return "it is not valid UTF-8"
  }
  try {
    JSON.parse(text)
    return undefined
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}

/** The bytes of a piece that arrived in parts. */
export const joinParts = (parts: ReadonlyArray<Uint8Array>): Uint8Array =>
  parts.length === 1 && parts[0] !== undefined
    ? new Uint8Array(parts[0])
    : new Uint8Array(Buffer.concat(parts))

/** A byte order mark, which some programs put before a text. */
export const BYTE_ORDER_MARK: ReadonlyArray<number> = [0xef, 0xbb, 0xbf]
