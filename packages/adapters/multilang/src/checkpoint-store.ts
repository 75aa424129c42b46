/**
 * The CheckpointStore of a session: the daemon stores a place, and nothing beside it.
 *
 * 1. A save is answered when the daemon has confirmed it; it waits for an action in which a
 *    checkpoint may be asked for, since the protocol has no other moment.
 * 2. The completion map lives as long as this process: it serves a shard that is opened again here.
 *    After a restart, whatever stands above the checkpoint comes again.
 * 3. A busy store is asked again after a jittered delay, so many times; a refused place is reported
 *    once as the fault that it is, and not asked for again.
 * 4. Once the lease is lost, every save is a conflict.
 */
import {
  CheckpointConflict,
  CheckpointStore,
  CheckpointStoreError,
  type StoredCheckpoint
} from "@holdfast/records"
import { Duration, Effect, Option, Random, Semaphore } from "effect"
import { answerOf } from "./checkpoint-errors.ts"
import type { Connection } from "./connection.ts"
import { placeOf } from "./position.ts"
import type { CheckpointTarget } from "./session.ts"

/** How a checkpoint is tried again: a random part of a delay that doubles up to the highest. */
export interface CheckpointRetry {
  readonly attempts: number
  readonly firstMs: number
  readonly highestMs: number
}

/** Some ten seconds in all. */
export const defaultRetry: CheckpointRetry = { attempts: 8, firstMs: 200, highestMs: 5_000 }

type SaveError = CheckpointConflict | CheckpointStoreError

/** The store, and the fiber that checkpoints the end of a shard of which all is finished. */
export interface Checkpointing {
  readonly store: CheckpointStore["Service"]
  readonly endOfShard: Effect.Effect<void>
}

const wordsOf = (target: CheckpointTarget): string => {
  if (target._tag === "End") return "the end of the shard"
  const { sequenceNumber, subSequenceNumber } = placeOf(target.position)
  return `sequence number ${sequenceNumber}, sub-sequence number ${subSequenceNumber}`
}

/** Makes both over a connection. */
export const makeCheckpointing = (
  connection: Connection,
  retry: CheckpointRetry
): Effect.Effect<Checkpointing> =>
  Effect.gen(function* () {
    const { session } = connection
    const gate = yield* Semaphore.make(1)
    let stored: StoredCheckpoint | undefined
    let refused: bigint | undefined

    const unavailable = (message: string) =>
      new CheckpointStoreError({
        code: "unavailable",
        shard: session.shard?.shard ?? "",
        message
      })
    const conflict = (message: string) =>
      new CheckpointConflict({ shard: session.shard?.shard ?? "", message })

    /** What is stored now: by this process, else what the daemon began with. */
    const current = (): StoredCheckpoint | undefined => {
      if (stored !== undefined || session.shard?.after === undefined) return stored
      const position = Option.some(session.shard.after)
      const completionMap = new Uint8Array(0)
      return { checkpoint: { position, completionMap, epoch: 0, owner: "" }, revision: 0n }
    }

    /** Asks once and answers what the daemon replied. */
    const exchange = Effect.fnUntraced(function* (target: CheckpointTarget) {
      const { changes } = connection
      yield* changes.waitUntil(() => session.mayRequest || session.lostReason !== undefined)
      const request = session.ask(target)
      connection.change(() => undefined)
      const isVain = (): boolean =>
        session.isClosing && request.state === "queued" && !session.allowsCheckpoints
      yield* changes
        .waitUntil(
          () => request.state === "replied" || session.lostReason !== undefined || isVain()
        )
        .pipe(Effect.onInterrupt(() => Effect.sync(() => session.withdraw(request))))
      if (request.state === "replied") return request.error
      session.withdraw(request)
      if (session.lostReason !== undefined) return "ShutdownException"
      return yield* unavailable("no action of the daemon is open, and this process is leaving")
    })

    const send = Effect.fnUntraced(function* (
      target: CheckpointTarget
    ): Effect.fn.Return<void, SaveError> {
      for (let attempt = 1; ; attempt++) {
        const error = yield* exchange(target)
        switch (answerOf(error)) {
          case "Stored":
            return
          case "Lost":
            connection.change((one) => one.lose("the lease is lost"))
            return yield* conflict(session.lostReason ?? "the lease is lost")
          case "Refused":
            if (target._tag === "At") refused = target.position
            yield* Effect.logError(
              `the daemon refused a checkpoint at ${wordsOf(target)}: ${error}; this is a fault ` +
                "in holdfast: please report it with this line"
            )
            return yield* unavailable(`the daemon refused ${wordsOf(target)}`)
          case "Unavailable":
            return yield* unavailable(`the daemon could not store ${wordsOf(target)}: ${error}`)
          case "Again": {
            if (attempt >= retry.attempts) {
              return yield* unavailable(`${error} ${attempt} times at ${wordsOf(target)}`)
            }
            const most = Math.min(retry.highestMs, retry.firstMs * 2 ** (attempt - 1))
            yield* Effect.sleep(Duration.millis(Math.ceil(most * (yield* Random.next))))
          }
        }
      }
    })

    /** Sends a position on, unless the daemon has it already. */
    const sendPosition = Effect.fnUntraced(function* (position: bigint) {
      const before = Option.getOrUndefined(current()?.checkpoint.position ?? Option.none())
      connection.change((one) => (one.finished = position))
      const isEnd = session.awaitsEnd
      if (position === before && !isEnd) return
      if (position === refused && !isEnd) {
        return yield* unavailable("the daemon has refused this very place")
      }
      yield* send(isEnd ? { _tag: "End" } : { _tag: "At", position })
    })

    const save: CheckpointStore["Service"]["save"] = ({ checkpoint, expected }) =>
      gate.withPermits(1)(
        Effect.gen(function* () {
          const before = current()
          if (session.lostReason !== undefined) return yield* conflict(session.lostReason)
          if (before?.revision !== Option.getOrUndefined(expected)) {
            return yield* conflict("the checkpoint was written by another run of this process")
          }
          if (Option.isSome(checkpoint.position)) yield* sendPosition(checkpoint.position.value)
          const revision = (before?.revision ?? 0n) + 1n
          stored = { checkpoint, revision }
          return revision
        })
      )

    const load: CheckpointStore["Service"]["load"] = (shard) =>
      Effect.suspend(() => {
        if (session.shard?.shard !== shard) {
          return Effect.fail(unavailable(`the daemon has not given the shard ${shard}`))
        }
        const found = current()
        if (session.lostReason === undefined) return Effect.succeed(Option.fromUndefinedOr(found))
        // Whoever asks after a conflict must see that the shard is another's.
        const position = found?.checkpoint.position ?? Option.none()
        const completionMap = new Uint8Array(0)
        const epoch = Number.MAX_SAFE_INTEGER
        const revision = (found?.revision ?? 0n) + 1n
        return Effect.succeed(
          Option.some({
            checkpoint: { position, completionMap, epoch, owner: "the daemon" },
            revision
          })
        )
      })

    const sendEnd = gate.withPermits(1)(
      Effect.suspend(() => (session.awaitsEnd ? send({ _tag: "End" }) : Effect.void))
    )
    const endOfShard = Effect.forever(
      connection.changes
        .waitUntil(() => session.awaitsEnd)
        .pipe(
          Effect.andThen(sendEnd),
          Effect.catch((error) =>
            Effect.andThen(
              Effect.logWarning(`the shard's end is not checkpointed: ${error.message}`),
              Effect.sleep(Duration.millis(retry.highestMs))
            )
          )
        )
    )
    return { store: CheckpointStore.of({ load, save }), endOfShard }
  })
