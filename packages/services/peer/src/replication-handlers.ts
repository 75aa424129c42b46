/**
 * What a peer answers to other peers: states to merge, partitions to fetch.
 */
import type { PartitionKey } from "@holdfast/keyspace"
import {
  type Answer,
  decodeParts,
  encodeParts,
  partBytes,
  PeerReplicationOperations,
  type RequestContext,
  ServiceError
} from "@holdfast/wire"
import { PartitionKey as PartitionKeySchema } from "@holdfast/keyspace"
import { Effect, Option, Result } from "effect"
import type { Address } from "./address.ts"
import { FULL_STATE_NEEDED, noSuchApplication, refusalOf } from "./refusals.ts"
import { type Heard, hearState, letOwnersIn, type Sent } from "./replication-steps.ts"
import type { SenderContext } from "./sender.ts"

type MergeOutcome = PeerReplicationOperations.MergeOutcome
type Sender = PeerReplicationOperations.PeerSender

interface Outcome {
  readonly outcome: MergeOutcome
  readonly state?: Uint8Array
}

type Item = PeerReplicationOperations.MergeItem

const refused = ({ code, message }: ServiceError): Outcome => ({
  outcome: { outcome: "refused", code, message }
})

const checkKey = (key: string): PartitionKey => PartitionKeySchema.make(key)

/** What came, as far as it can be read without what is here. */
const readItem = (
  context: SenderContext,
  { application: name, diffOf }: Item,
  bytes: Uint8Array
): Result.Result<Sent, ServiceError> => {
  const application = context.applications.get(name)
  if (application === undefined) return Result.fail(noSuchApplication(name))
  return diffOf === undefined
    ? application.decode(bytes).pipe(
        Result.map((replica): Sent => ({ _tag: "State", replica })),
        Result.mapError(refusalOf)
      )
    : Result.succeed({ _tag: "Diff", bytes, digest: diffOf })
}

/** What the sender lacks of a partition; who sent a diff takes one. */
const answerOf = (sent: Sent, { incoming, isSame, replica }: Heard): Outcome => {
  if (isSame) return { outcome: { outcome: "same" } }
  const diff =
    sent._tag === "Diff" && sent.digest === incoming.digest()
      ? replica.diff(incoming.report())
      : null
  return diff === null
    ? { outcome: { outcome: "state" }, state: replica.bytes() }
    : { outcome: { outcome: "state", diffOf: replica.digest() }, state: diff }
}

/** Puts the merge of one state in; the effect waits for it. */
const mergeOne = (
  context: SenderContext,
  sender: Sender,
  item: Item,
  bytes: Uint8Array
): Effect.Effect<Outcome> => {
  const read = readItem(context, item, bytes)
  if (Result.isFailure(read)) return Effect.succeed(refused(read.failure))
  const sent = read.success
  const address: Address = { application: item.application, key: checkKey(item.key) }
  const { engine, ownership } = context
  const { boot } = sender
  const body = hearState({ address, sent, sender, boot, ownership, isAnswered: true })
  return engine.enqueue(address, body).pipe(
    Effect.map((heard) => answerOf(sent, heard)),
    Effect.catch((error) => {
      // The full state is on its way then.
      if (error.code !== FULL_STATE_NEEDED) context.missed(sender.peer)
      return Effect.succeed(refused(error))
    })
  )
}

/** Keeps the answer within a message: a state that does not fit is left to be asked for again. */
const fitting = (outcomes: ReadonlyArray<Outcome>, maxBytes: number): ReadonlyArray<Outcome> => {
  let room = maxBytes
  return outcomes.map((each) => {
    if (each.state === undefined) return each
    room -= partBytes(each.state)
    const code = "answer-full"
    const message = "the answer is full; send the state again"
    return room >= 0 ? each : { outcome: { outcome: "refused", code, message } }
  })
}

const HEADROOM_BYTES = 65_536

/** Answers `merge`. */
export const handleMerge =
  (context: SenderContext) =>
  (
    request: {
      readonly sender: Sender
      readonly items: ReadonlyArray<Item>
    },
    { attachment }: RequestContext
  ): Effect.Effect<Answer<{ readonly outcomes: ReadonlyArray<MergeOutcome> }>, ServiceError> =>
    Effect.gen(function* () {
      const refusal = context.view.hear(request.sender)
      if (refusal !== null) return yield* refusal
      const parts = Option.getOrElse(decodeParts(attachment), () => [])
      if (parts.length !== request.items.length) {
        const message = `${request.items.length} items came with ${parts.length} states`
        return yield* new ServiceError({ code: "invalid-request", message })
      }
      const merges = request.items.map((item, index) =>
        mergeOne(context, request.sender, item, parts[index] ?? new Uint8Array())
      )
      const outcomes = yield* Effect.forEach(merges, (merge) => merge)
      const fit = fitting(outcomes, context.maxPayloadBytes - HEADROOM_BYTES)
      return {
        response: { outcomes: fit.map(({ outcome }) => outcome) },
        attachment: encodeParts(fit.flatMap(({ state }) => (state === undefined ? [] : [state])))
      }
    })

/** Answers `fetch`. */
export const handleFetch =
  (context: SenderContext) =>
  (request: {
    readonly sender: Sender
    readonly application: string
    readonly keys: ReadonlyArray<string>
  }): Effect.Effect<
    Answer<{ readonly found: ReadonlyArray<string>; readonly seen: number }>,
    ServiceError
  > =>
    Effect.gen(function* () {
      const refusal = context.view.hear(request.sender)
      if (refusal !== null) return yield* refusal
      if (!context.applications.has(request.application)) {
        return yield* noSuchApplication(request.application)
      }
      const found: Array<string> = []
      const parts: Array<Uint8Array> = []
      let room = context.maxPayloadBytes - HEADROOM_BYTES
      let seen = 0
      // All at once, so that those let in share a commit; what does not fit is asked for again.
      const states = yield* Effect.forEach(
        request.keys,
        (key) => {
          const address = { application: request.application, key: checkKey(key) }
          return context.engine.submit(address, letOwnersIn(address, context.ownership))
        },
        { concurrency: "unbounded" }
      )
      for (const [index, key] of request.keys.entries()) {
        const bytes = states[index]?.bytes()
        if (bytes !== undefined && partBytes(bytes) > room) break
        seen += 1
        if (bytes === undefined) continue
        room -= partBytes(bytes)
        found.push(key)
        parts.push(bytes)
      }
      return { response: { found, seen }, attachment: encodeParts(parts) }
    })
