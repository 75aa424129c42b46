/**
 * Capabilities: the right to do one thing to one chunk on one device for a time.
 *
 *     token = base64url(JSON of the claims) "." base64url(mac(key, the part before the dot))
 *
 * The metadata service issues them, chunk servers check them; both hold the cluster's keys. The MAC
 * (HMAC-SHA-256) is passed in as a function for each of them. Expiry is compared with the time that
 * the metadata service tells, so that wall clocks need not agree; it fences nothing, versions and
 * epochs do.
 *
 * 1. A token whose MAC, cluster, chunk, device or right differs is refused, whatever it claims.
 * 2. Comparing MACs takes the same time wherever they differ.
 */
import { Result, Schema } from "effect"
import * as Base64Url from "effect/encoding/Base64Url"

/** What a capability allows. */
export const CapabilityRight = Schema.Literals(["read", "write"])
/** What a capability allows. */
export type CapabilityRight = typeof CapabilityRight.Type

/** What a token claims. */
export const CapabilityClaims = Schema.Struct({
  clusterId: Schema.String,
  deviceId: Schema.String,
  fileId: Schema.Int,
  chunkId: Schema.Int,
  version: Schema.Int,
  right: CapabilityRight,
  /** Seconds since 1970. */
  expires: Schema.Int
})
/** What a token claims. */
export type CapabilityClaims = typeof CapabilityClaims.Type

/** The keyed hash of a text: HMAC-SHA-256 with the cluster's key. */
export type Mac = (text: string) => Uint8Array

/** The keys of a cluster: one signs, and while it takes the place of another both verify. */
export interface MacRing {
  readonly sign: Mac
  /** The keys whose proofs are taken, the signing one first. */
  readonly verifies: () => ReadonlyArray<Mac>
}

/** A ring of one key for ever. */
export const ringOfOne = (mac: Mac): MacRing => ({ sign: mac, verifies: () => [mac] })

/** Why a token was refused. */
export type CapabilityRefusal = "malformed" | "forged" | "expired" | "other-claims"

const tokenBytesMax = 1024
const decodeClaims = Schema.decodeUnknownResult(Schema.fromJsonString(CapabilityClaims))

/** Issues a token. */
export const signCapability = (mac: Mac, claims: CapabilityClaims): string => {
  const body = Base64Url.encode(JSON.stringify(claims))
  return `${body}.${Base64Url.encode(mac(body))}`
}

/** Checks a token against what it is presented for; `nowSeconds` is the time that the issuer tells. */
export const verifyCapability = (options: {
  readonly ring: MacRing
  readonly token: string
  readonly wanted: Omit<CapabilityClaims, "expires">
  readonly nowSeconds: number
}): Result.Result<CapabilityClaims, CapabilityRefusal> => {
  if (options.token.length > tokenBytesMax) return Result.fail("malformed")
  const [body, signature, ...rest] = options.token.split(".")
  if (body === undefined || signature === undefined || rest.length > 0) {
    return Result.fail("malformed")
  }
  const given = Base64Url.decode(signature)
  if (Result.isFailure(given)) return Result.fail("malformed")
  if (!isProven(options.ring, body, given.success)) return Result.fail("forged")
  const text = Base64Url.decodeString(body)
  if (Result.isFailure(text)) return Result.fail("malformed")
  const claims = decodeClaims(text.success)
  if (Result.isFailure(claims)) return Result.fail("malformed")
  const { wanted } = options
  const same =
    claims.success.clusterId === wanted.clusterId &&
    claims.success.deviceId === wanted.deviceId &&
    claims.success.fileId === wanted.fileId &&
    claims.success.chunkId === wanted.chunkId &&
    claims.success.version === wanted.version &&
    claims.success.right === wanted.right
  if (!same) return Result.fail("other-claims")
  if (claims.success.expires < options.nowSeconds) return Result.fail("expired")
  return Result.succeed(claims.success)
}

/** The text whose MAC is the proof in a chunk receipt. */
export const receiptText = (receipt: {
  readonly clusterId: string
  readonly deviceId: string
  readonly epoch: number
  readonly fileId: number
  readonly chunkId: number
  readonly version: number
  readonly length: number
  readonly checksum: number
}): string =>
  [
    "receipt",
    receipt.clusterId,
    receipt.deviceId,
    receipt.epoch,
    receipt.fileId,
    receipt.chunkId,
    receipt.version,
    receipt.length,
    receipt.checksum
  ].join("/")

/** Proves a receipt. */
export const signReceipt = (mac: Mac, receipt: Parameters<typeof receiptText>[0]): string =>
  Base64Url.encode(mac(receiptText(receipt)))

/** Whether a proof belongs to a receipt. */
export const verifyReceipt = (options: {
  readonly ring: MacRing
  readonly proof: string
  readonly receipt: Parameters<typeof receiptText>[0]
}): boolean => {
  const given = Base64Url.decode(options.proof)
  const { receipt, ring } = options
  return Result.isSuccess(given) && isProven(ring, receiptText(receipt), given.success)
}

const isProven = (ring: MacRing, text: string, proof: Uint8Array): boolean =>
  ring.verifies().some((mac) => equalBytes(proof, mac(text)))

const equalBytes = (left: Uint8Array, right: Uint8Array): boolean => {
  if (left.length !== right.length) return false
  let difference = 0
  for (let index = 0; index < left.length; index++) {
    difference |= (left[index] ?? 0) ^ (right[index] ?? 0)
  }
  return difference === 0
}
