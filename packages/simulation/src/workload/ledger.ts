/** The application that the simulation writes to: a list of what was written, in order. */
import type { Application } from "@holdfast/power-state"
import { Schema } from "effect"

/** The name of the application. */
export const ledgerName = "ledger"

const encoder = new TextEncoder()

/** The tag of every ledger that has an entry. */
export const anyTag = encoder.encode("any")

/** The tag of ledgers by their size: it moves on with each write. */
const sizeTag = (size: number): Uint8Array =>
  encoder.encode(`size-${String(size).padStart(6, "0")}`)

/** Keeps each written word; what is written twice is there twice. */
export const ledger: Application<string, number, ReadonlyArray<string>> = {
  name: ledgerName,
  version: 1,
  Event: Schema.String,
  Output: Schema.Int,
  State: Schema.Array(Schema.String),
  initial: [],
  apply: (word, words) => ({ output: words.length + 1, state: [...words, word] }),
  index: (words) => (words.length === 0 ? [] : [anyTag, sizeTag(words.length)])
}
