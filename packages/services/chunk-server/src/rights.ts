/** Checks capabilities and proves receipts with the cluster's keys. */
import {
  type ChunkDescription,
  type ChunkName,
  type ChunkReceipt,
  ChunkTransportError
} from "@holdfast/storage"
import { type CapabilityRight, type MacRing, signReceipt, verifyCapability } from "@holdfast/wire"
import { Effect, Result } from "effect"
import type { ServiceTime } from "./service-time.ts"

/** The cluster and its keys. */
export interface ClusterKey {
  readonly clusterId: string
  readonly ring: MacRing
  /** The time by which capabilities expire. */
  readonly time: ServiceTime
}

interface WantedRight {
  readonly deviceId: string
  readonly chunk: ChunkName
  readonly right: CapabilityRight
  readonly token: string
}

const checkAt = Effect.fnUntraced(function* (
  key: ClusterKey,
  wanted: WantedRight,
  nowSeconds: number
) {
  const { deviceId, chunk, right, token } = wanted
  const { fileId, chunkId, version } = chunk
  const checked = verifyCapability({
    ring: key.ring,
    token,
    wanted: { clusterId: key.clusterId, deviceId, fileId, chunkId, version, right },
    nowSeconds
  })
  if (Result.isFailure(checked)) {
    return yield* new ChunkTransportError({
      code: "denied",
      deviceId,
      message: `the capability is ${checked.failure}; the metadata service gives another`
    })
  }
})

/** Passes for a token that allows exactly this now; fails with `denied` and why. */
export const checkRight = (key: ClusterKey, wanted: WantedRight) =>
  Effect.flatMap(key.time.seconds, (now) => checkAt(key, wanted, now))

/**
 * Passes for a token that allows this on another server. Whether it has lapsed is for that server
 * to say: a wrong clock here must not turn away what others would take.
 */
export const checkPassedOn = (key: ClusterKey, wanted: WantedRight) => checkAt(key, wanted, 0)

/** This server's word that a copy is durable. */
export const makeReceipt = (
  key: ClusterKey,
  device: { readonly deviceId: string; readonly epoch: number },
  chunk: ChunkDescription
): ChunkReceipt => {
  const { deviceId, epoch } = device
  const { clusterId, ring } = key
  const { fileId, chunkId, version, length, checksum } = chunk
  const named = { fileId, chunkId, version, length, checksum }
  const proof = signReceipt(ring.sign, { clusterId, deviceId, epoch, ...named })
  return { deviceId, epoch, chunk: named, proof }
}
