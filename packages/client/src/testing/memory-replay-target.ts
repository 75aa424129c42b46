/** A target of replays in memory that remembers no ids: what is published twice is there twice. */
import { type ReplayRecord, type ReplayTarget, ReplayTargetError } from "@holdfast/records"
import { Effect, Stream } from "effect"

/** A target with what it holds, and how many records it takes before it is away. */
export interface MemoryReplayTarget {
  readonly target: ReplayTarget
  readonly stored: Array<ReplayRecord>
  /** How the records came: the sizes of the batches. */
  readonly batches: Array<number>
  takes: number
  /** Leading records that it has forgotten. */
  forgotten: number
}

const pieceLength = 3

/** Makes an empty target. */
export const makeMemoryReplayTarget = (): MemoryReplayTarget => {
  const stored: Array<ReplayRecord> = []
  const made: MemoryReplayTarget = {
    stored,
    batches: [],
    takes: Number.POSITIVE_INFINITY,
    forgotten: 0,
    target: {
      name: "memory",
      earlier: Stream.suspend(() => {
        const ids = stored.slice(made.forgotten).map(({ id }) => id)
        const pieces = Array.from({ length: Math.ceil(ids.length / pieceLength) }, (_, at) =>
          ids.toReversed().slice(at * pieceLength, (at + 1) * pieceLength)
        )
        return Stream.fromIterable([["somebody-else"], ...pieces])
      }),
      publish: (records) =>
        Effect.suspend(() => {
          const taken = records.slice(0, made.takes)
          stored.push(...taken)
          made.takes -= taken.length
          if (taken.length < records.length) {
            const error = { code: "unavailable", stored: taken.length, message: "away" } as const
            return Effect.fail(new ReplayTargetError(error))
          }
          made.batches.push(taken.length)
          return Effect.succeed({ duplicates: 0 })
        })
    }
  }
  return made
}
