/**
 * What a group of workers leaves in its buckets, as a test watches it: every checkpoint that is
 * written, in order, and who owns which shard.
 */
import { DeliverPolicy, jetstream, jetstreamManager } from "@nats-io/jetstream"
import type { NatsConnection } from "@nats-io/transport-node"
import { eventually } from "./process.ts"

/** A checkpoint that stands before the one that was written earlier. */
export interface StepBack {
  readonly shard: string
  readonly before: bigint
  readonly after: bigint
}

/** What was seen of checkpoints so far. */
export interface CheckpointWatch {
  readonly stepsBack: ReadonlyArray<StepBack>
  /** The position of each shard's newest checkpoint. */
  readonly positions: ReadonlyMap<string, bigint>
  readonly writes: () => number
}

interface StoredCheckpoint {
  readonly position: { readonly _tag: "Some"; readonly value: string } | { readonly _tag: "None" }
}

/** Which entries of a bucket: those of shards whose keys begin so. */
export interface WatchedShards {
  readonly bucket: string
  readonly prefix: string
}

/** Watches every write to a bucket of checkpoints until the connection closes. */
export const watchCheckpoints = async (
  connection: NatsConnection,
  { bucket, prefix }: WatchedShards
): Promise<CheckpointWatch> => {
  const positions = new Map<string, bigint>()
  const stepsBack: Array<StepBack> = []
  let writes = 0
  await eventually(
    "the bucket of checkpoints",
    () =>
      jetstreamManager(connection)
        .then((manager) => manager.streams.info(`KV_${bucket}`))
        .then(
          () => true,
          () => undefined
        ),
    60_000
  )
  const consumer = await jetstream(connection).consumers.get(`KV_${bucket}`, {
    deliver_policy: DeliverPolicy.All
  })
  // Short heartbeats: a watch that a dead server has left notices that it must begin again.
  const messages = await consumer.consume({ expires: 2_000, idle_heartbeat: 500 })
  const watch = async (): Promise<void> => {
    for await (const message of messages) {
      const shard = message.subject.split(".").at(-1) ?? ""
      if (!shard.startsWith(prefix)) continue
      const { position }: StoredCheckpoint = message.json()
      writes += 1
      const before = positions.get(shard) ?? -1n
      const after = position._tag === "Some" ? BigInt(position.value) : -1n
      if (after < before) stepsBack.push({ shard, before, after })
      positions.set(shard, after > before ? after : before)
    }
  }
  void watch()
  return { stepsBack, positions, writes: () => writes }
}

interface StoredLease {
  readonly shard: string
  readonly owner: { readonly _tag: "Some"; readonly value: string } | { readonly _tag: "None" }
}

/**
 * How many shards each worker owns, by the claims as they are stored now; nobody owns any while the
 * server does not answer.
 */
export const ownersOf = async (
  connection: NatsConnection,
  { bucket, prefix }: WatchedShards
): Promise<ReadonlyMap<string, number>> => {
  const owned = new Map<string, number>()
  try {
    const manager = await jetstreamManager(connection)
    const { state } = await manager.streams.info(`KV_${bucket}`, { subjects_filter: ">" })
    for (const subject of Object.keys(state.subjects ?? {})) {
      if (!subject.startsWith(`$KV.${bucket}.${prefix}`)) continue
      const message = await manager.streams.getMessage(`KV_${bucket}`, { last_by_subj: subject })
      if (message === null) continue
      const { owner }: StoredLease = message.json()
      const name = owner._tag === "Some" ? owner.value : "nobody"
      owned.set(name, (owned.get(name) ?? 0) + 1)
    }
  } catch (error) {
    console.log(`the claims cannot be read now: ${String(error)}`)
    owned.clear()
  }
  return owned
}
