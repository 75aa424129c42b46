/**
 * The bytes of a partition in the store and between peers.
 *
 *     01 | state digest, 16 hexadecimal digits | the encoded state as JSON
 *     02 | the same of a birth that waits to be confirmed
 *
 * Form and digest stand in front, so that a start can compare partitions, and find those that wait,
 * without reading them whole. The store adds the checksum. A diff is sent as its JSON alone.
 */
import type { EncodedDiff, EncodedState } from "@holdfast/power-state"
import { UndecodableState } from "@holdfast/power-state"
import { Result } from "effect"

const CONFIRMED = 1
const PROVISIONAL = 2
const digestLength = 16
const headerLength = 1 + digestLength
const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true })

/** Puts a state into its stored form. */
export const encodeStored = (digest: string, state: EncodedState): Uint8Array => {
  const bytes = encoder.encode(digest + JSON.stringify(state))
  const stored = new Uint8Array(bytes.length + 1)
  stored[0] = state.provisional === true ? PROVISIONAL : CONFIRMED
  stored.set(bytes, 1)
  return stored
}

const undecodable = (reason: string) => Result.fail(new UndecodableState({ reason }))

/** The digest of a stored state, without reading the state. */
export const storedDigest = (stored: Uint8Array): Result.Result<string, UndecodableState> => {
  if (stored[0] !== CONFIRMED && stored[0] !== PROVISIONAL) {
    return undecodable(`stored form ${stored[0]} is not known`)
  }
  if (stored.length < headerLength) return undecodable("it is cut short")
  let digest = ""
  for (let index = 1; index < headerLength; index += 1) {
    digest += String.fromCharCode(stored[index] ?? 0)
  }
  return /^[0-9a-f]{16}$/.test(digest)
    ? Result.succeed(digest)
    : undecodable("its digest is not one")
}

/** Whether a stored state is of a birth that waits to be confirmed, without reading the state. */
export const isStoredProvisional = (stored: Uint8Array): boolean => stored[0] === PROVISIONAL

/** Reads a stored form; the state itself is still to be decoded. */
export const decodeStored = (
  stored: Uint8Array
): Result.Result<{ readonly digest: string; readonly encoded: unknown }, UndecodableState> =>
  Result.flatMap(storedDigest(stored), (digest) =>
    Result.try({
      try: (): { readonly digest: string; readonly encoded: unknown } => ({
        digest,
        encoded: JSON.parse(decoder.decode(stored.subarray(headerLength)))
      }),
      catch: (cause) => new UndecodableState({ reason: String(cause) })
    })
  )

/** A diff as it is sent. */
export const encodeSentDiff = (diff: EncodedDiff): Uint8Array =>
  encoder.encode(JSON.stringify(diff))

/** Reads a diff as it was sent; the diff itself is still to be decoded. */
export const decodeSentDiff = (sent: Uint8Array): Result.Result<unknown, UndecodableState> =>
  Result.try({
    try: (): unknown => JSON.parse(decoder.decode(sent)),
    catch: (cause) => new UndecodableState({ reason: String(cause) })
  })
