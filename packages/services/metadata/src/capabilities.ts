/** Capabilities that the service issues, and receipts that it checks, with the cluster's keys. */
import type { DeviceAddress, Receipt } from "@holdfast/chunk-map"
import type { ChunkName, ChunkReceipt, ChunkTarget } from "@holdfast/storage"
import { signCapability, verifyReceipt, type CapabilityRight } from "@holdfast/wire"
import { Effect } from "effect"
import type { Resolved } from "./options.ts"

/** Signatures after which other fibers have their turn. */
const SIGNED_AT_A_TIME = 256

/** What a capability is for. */
export interface Wanted {
  readonly address: DeviceAddress
  readonly chunk: ChunkName
  readonly right: CapabilityRight
  readonly livesMs: number
}

/** Where a copy is or shall be, with the right to touch it. */
export const targetOf = (options: Resolved, wanted: Wanted, nowSeconds: number): ChunkTarget => {
  const { deviceId, hostId, url } = wanted.address
  const { fileId, chunkId, version } = wanted.chunk
  const expires = nowSeconds + Math.max(1, Math.ceil(wanted.livesMs / 1000))
  const { clusterId, ring } = options
  const { right } = wanted
  const claims = { clusterId, deviceId, fileId, chunkId, version, right, expires }
  return { deviceId, hostId, url, capability: signCapability(ring.sign, claims) }
}

/** Signs many capabilities without keeping other fibers waiting. */
export const targetsOf = Effect.fnUntraced(function* (
  engine: { readonly options: Resolved; readonly seconds: Effect.Effect<number> },
  wanted: ReadonlyArray<Wanted>
) {
  const nowSeconds = yield* engine.seconds
  const targets: Array<ChunkTarget> = []
  for (const one of wanted) {
    targets.push(targetOf(engine.options, one, nowSeconds))
    if (targets.length % SIGNED_AT_A_TIME === 0) yield* Effect.yieldNow
  }
  return targets
})

/** A receipt with the word whether its proof is right. */
export const checkReceipt = (options: Resolved, receipt: ChunkReceipt): Receipt => {
  const { deviceId, epoch, chunk, proof } = receipt
  const { clusterId, ring } = options
  const { fileId, chunkId, version, length, checksum } = chunk
  const named = { fileId, chunkId, version, length, checksum }
  const proven = verifyReceipt({
    ring,
    proof,
    receipt: { clusterId, deviceId, epoch, ...named }
  })
  return { deviceId, epoch, chunk: named, proven }
}
