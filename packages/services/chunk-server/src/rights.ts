/** Checks capabilities and proves receipts with the cluster's key. */
import {
  type ChunkDescription,
  type ChunkName,
  type ChunkReceipt,
  ChunkTransportError
} from "@holdfast/storage"
import { type CapabilityRight, type Mac, signReceipt, verifyCapability } from "@holdfast/wire"
import { Clock, Effect, Result } from "effect"

/** The cluster and its key. */
export interface ClusterKey {
  readonly clusterId: string
  readonly mac: Mac
}

/** Passes for a token that allows exactly this now; fails with `denied` and why. */
export const checkRight = Effect.fnUntraced(function* (
  key: ClusterKey,
  wanted: {
    readonly deviceId: string
    readonly chunk: ChunkName
    readonly right: CapabilityRight
    readonly token: string
  }
) {
  const { deviceId, chunk, right, token } = wanted
  const { fileId, chunkId, version } = chunk
  const nowSeconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const checked = verifyCapability({
    mac: key.mac,
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

/** This server's word that a copy is durable. */
export const makeReceipt = (
  key: ClusterKey,
  device: { readonly deviceId: string; readonly epoch: number },
  chunk: ChunkDescription
): ChunkReceipt => {
  const { deviceId, epoch } = device
  const { clusterId, mac } = key
  const { fileId, chunkId, version, length, checksum } = chunk
  const named = { fileId, chunkId, version, length, checksum }
  const proof = signReceipt(mac, { clusterId, deviceId, epoch, ...named })
  return { deviceId, epoch, chunk: named, proof }
}
