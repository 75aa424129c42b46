/** Why a store on disk refused, before a port gives it the port's own error type. */
import { Schema } from "effect"

/**
 * A store refused. `locked`: another process holds the directory. `foreign`: it holds another kind
 * of store, or another cluster's. `corrupt`: a checksum or the format is wrong. `full`: the disk or
 * a configured limit; nothing was written. `unavailable`: the disk answered an error. `too-large`:
 * an item over a limit.
 */
export class StoreRefused extends Schema.TaggedError<StoreRefused>()("StoreRefused", {
  code: Schema.Literals(["locked", "foreign", "corrupt", "full", "unavailable", "too-large"]),
  message: Schema.String
}) {}

/** LMDB's own numbers for a file that is not what it should be. */
const CORRUPT_NUMBERS: ReadonlySet<unknown> = new Set([-30797, -30796, -30794, -30793])
/** LMDB's own numbers for a full map or a full transaction, and the system's for a full disk. */
const FULL_NUMBERS: ReadonlySet<unknown> = new Set([-30792, -30788, 28, 122, "ENOSPC", "EDQUOT"])

const codeOf = (cause: unknown): unknown =>
  typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined

/** Gives an error that LMDB or the file system threw its place among the refusals. */
export const refusalOf = (cause: unknown, doing: string): StoreRefused => {
  if (cause instanceof StoreRefused) return cause
  const number = codeOf(cause)
  const text = cause instanceof Error ? cause.message : String(cause)
  const code = CORRUPT_NUMBERS.has(number)
    ? "corrupt"
    : FULL_NUMBERS.has(number)
      ? "full"
      : "unavailable"
  return new StoreRefused({ code, message: `${doing}: ${text}` })
}
