/**
 * The checkpoints of the workers, against what is durable when each is stored.
 *
 * | invariant | what must hold |
 * |---|---|
 * | checkpoint-fell | a shard's stored position and epoch never fall |
 * | checkpoint-early | up to it, every part of every message is finished, durably |
 * | map-unreadable | the completion map beside it can be read |
 * | map-early | what the map claims above it is finished, durably: messages, and single parts of them |
 * | map-forgot | what a map has claimed once, every later one claims, too |
 * | liveness | once nothing fails, each checkpoint reaches the end of its stream |
 */
import { type CompletionMap, decodeMap, emptyMap, hasPart, statusOf } from "@holdfast/disposition"
import type { Checkpoint } from "@holdfast/records"
import { Option, Result } from "effect"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import type { Publications } from "../workload/publications.ts"
import type { Oracle } from "./oracle.ts"

/** Whether a part of a message is finished now; a message that is one record is part 0. */
export type FinishedParts = (position: bigint, part: number) => boolean

/** What the workers work on, and what has become of it. */
export interface JudgedWork {
  readonly shards: ReadonlyArray<string>
  readonly publications: Publications
  /** How many parts a message has. */
  readonly partsAt: (shard: string, position: bigint) => number
  /** What is finished of a shard above a position. */
  readonly finished: (shard: string, after: bigint) => FinishedParts
}

interface Progress {
  readonly position: bigint
  readonly epoch: number
  readonly map: CompletionMap
}

const nothing: Progress = { position: 0n, epoch: 0, map: emptyMap(undefined) }

/** Whether a checkpoint claims that a part is finished. */
const claims = ({ map, position }: Progress, at: bigint, part: number): boolean => {
  if (at <= position) return true
  const status = statusOf(map, at)
  switch (status._tag) {
    case "Finished":
      return true
    case "Partial":
      return hasPart(status.finished, part)
    case "Unfinished":
      return false
  }
}

/** The checkpoints as they were stored. */
export interface CheckpointOracle extends Oracle {
  /** Whether the checkpoint that is stored now claims that a part is finished. */
  readonly claimsOf: (shard: string) => FinishedParts
}

/** Judges every checkpoint of some shards. */
export const makeCheckpointOracle = (
  cluster: SimulatedCluster,
  work: JudgedWork
): CheckpointOracle => {
  const stored = new Map<string, Progress>()
  const { report, streams } = cluster.site
  const progressOf = (shard: string): Progress => stored.get(shard) ?? nothing

  const judge = (shard: string, before: Progress, now: Progress): void => {
    const { epoch, position } = now
    if (position < before.position || epoch < before.epoch) {
      const from = `${before.position} of epoch ${before.epoch}`
      report("checkpoint-fell", `${shard}: from ${from} to ${position} of epoch ${epoch}`)
    }
    const isFinished = work.finished(shard, before.position)
    for (const [at] of work.publications.above(shard, before.position)) {
      for (let part = 0; part < work.partsAt(shard, at); part += 1) {
        const isClaimed = claims(now, at, part)
        const where = `${shard}: at ${position}, part ${part} of record ${at}`
        if (isClaimed && !isFinished(at, part)) {
          report(at <= position ? "checkpoint-early" : "map-early", `${where} is not durable`)
        }
        if (!isClaimed && claims(before, at, part)) {
          report("map-forgot", `${where} is not claimed any more`)
        }
      }
    }
  }

  const take = (shard: string, { completionMap, epoch, position }: Checkpoint): void => {
    const base = Option.getOrUndefined(position)
    const decoded = decodeMap(completionMap, { base, newest: undefined })
    const map = Result.isSuccess(decoded) ? decoded.success : emptyMap(base)
    const now = { position: base ?? 0n, epoch, map }
    judge(shard, progressOf(shard), now)
    if (Result.isFailure(decoded)) report("map-unreadable", `${shard}: ${decoded.failure.message}`)
    stored.set(shard, now)
  }

  return {
    claimsOf: (shard) => {
      const progress = progressOf(shard)
      return (position, part) => claims(progress, position, part)
    },
    watch: { checkpointSaved: take },
    unsettled: () =>
      work.shards.flatMap((shard) => {
        const last = (streams.byName.get(shard)?.next ?? 1n) - 1n
        const { position } = progressOf(shard)
        return position === last ? [] : [`the checkpoint of ${shard} is ${position} of ${last}`]
      })
  }
}
