/**
 * What a store directory is: a format version, a kind of store, and the cluster it belongs to.
 *
 * The identity stands in the data file and, written after that, in `store.json` beside it. A data
 * file without the identity that `store.json` names was emptied or exchanged: it is refused, not
 * taken for a new store.
 */
import { Result, Schema } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { replaceFile } from "./durable-file.ts"
import { StoreRefused } from "./store-refused.ts"

/** The format that this version writes. */
export const FORMAT_VERSION = 1
const IDENTITY_FILE = "store.json"

/** What a store directory is; the cluster is empty for a store that serves none. */
export const StoreIdentity = Schema.Struct({
  formatVersion: Schema.Natural,
  kind: Schema.NonEmptyString,
  clusterId: Schema.String
})
/** What a store directory is. */
export type StoreIdentity = typeof StoreIdentity.Type

const IdentityText = Schema.fromJsonString(StoreIdentity)

/** The identity as text. */
export const encodeIdentity = (identity: StoreIdentity): string =>
  Schema.encodeSync(IdentityText)(identity)

/** The identity of text, or a refusal that names where it stood. */
export const decodeIdentity = (
  text: string,
  where: string
): Result.Result<StoreIdentity, StoreRefused> =>
  Result.mapError(Schema.decodeUnknownResult(IdentityText)(text), (error) => {
    const message = `${where} holds no readable identity: ${error.message}`
    return new StoreRefused({ code: "corrupt", message })
  })

const isMissing = (cause: unknown): boolean =>
  typeof cause === "object" && cause !== null && "code" in cause && cause.code === "ENOENT"

/** The text of `store.json`, or `undefined` where there is none. */
export const readIdentityFile = (directory: string): string | undefined => {
  try {
    return readFileSync(join(directory, IDENTITY_FILE), "utf8")
  } catch (cause) {
    if (isMissing(cause)) return undefined
    throw cause
  }
}

/** Writes `store.json` so that it is there entirely or not at all. */
export const writeIdentityFile = (directory: string, identity: StoreIdentity): Promise<void> =>
  replaceFile(join(directory, IDENTITY_FILE), Buffer.from(`${encodeIdentity(identity)}\n`))

/** Refuses a store that is another kind's, another cluster's or of a later format. */
export const checkIdentity = (
  directory: string,
  found: StoreIdentity,
  wanted: StoreIdentity
): Result.Result<void, StoreRefused> => {
  const refuse = (code: "foreign" | "corrupt", message: string) =>
    Result.fail(new StoreRefused({ code, message: `${directory} ${message}` }))
  if (found.formatVersion !== wanted.formatVersion) {
    return refuse(
      "corrupt",
      `has format ${found.formatVersion}; this version reads ${wanted.formatVersion}.`
    )
  }
  if (found.kind !== wanted.kind) {
    return refuse("foreign", `holds a store of kind ${found.kind}, not ${wanted.kind}.`)
  }
  if (found.clusterId !== wanted.clusterId) {
    return refuse(
      "foreign",
      `belongs to cluster "${found.clusterId}", not to "${wanted.clusterId}".`
    )
  }
  return Result.succeed(undefined)
}
