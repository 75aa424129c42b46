/**
 * Publishes records to a JetStream stream, many at a time.
 *
 *     records ──▶ at most `window` under way ──▶ acknowledgements, counted
 *
 * 1. Success means that every record is stored, in the given order, or was stored before under the
 *    same message id.
 * 2. A failure says how many leading records are stored for certain; those behind may be. A repeat
 *    from there adds nothing twice as long as the server remembers the message ids.
 * 3. The stream is the one named; the first record that another one takes ends the batch.
 * 4. In turn, a record is stored only where the one before it stands last in the stream: what is
 *    stored of a batch that breaks off is its beginning, whatever was under way. Where somebody
 *    else's record came in between, the rest is sent again from there.
 */
import type { Msg } from "@nats-io/transport-node"
import type { RecordHeader } from "@holdfast/records"
import { Duration, Effect, Option, Result, Schema, type Scope } from "effect"
import { disarmControlHeaders } from "./control-headers.ts"
import { EncodedHeaders, encodeHeaderBlock, headerFault } from "./header-block.ts"
import type { ManagedConnection } from "./managed-connection.ts"
import { publishFault } from "./subject.ts"

/** A record to publish. */
export interface OutgoingRecord {
  readonly subject: Uint8Array
  /** Those that would command JetStream are renamed; see `disarmControlHeaders`. */
  readonly headers: ReadonlyArray<RecordHeader>
  readonly data: Uint8Array
  /** The server drops a repeat of it within the stream's duplicate window. */
  readonly messageId?: string
}

/** What became of a batch that was stored. */
export interface Published {
  /** Records that the stream had already. */
  readonly duplicates: number
  /** The position of the last record; 0 for no records. */
  readonly last: bigint
}

/** A batch was not stored as a whole; `stored` leading records are for certain. */
export class RecordPublishError extends Schema.TaggedError<RecordPublishError>()(
  "RecordPublishError",
  {
    code: Schema.Literals(["unavailable", "full", "refused", "invalid", "too-large", "denied"]),
    stored: Schema.Natural,
    message: Schema.String
  }
) {}

/** How a publisher works. */
export interface PublisherOptions {
  readonly stream: string
  /** Records under way at a time. Default 512. */
  readonly window?: number
  /** Store records in turn only; each must have a message id. See promise 4. */
  readonly inTurn?: boolean
  /** How long the server may be silent while records are under way. Default 10 seconds. */
  readonly ackDeadline?: Duration.Input
}

/** Publishes batches, one after another. */
export interface RecordPublisher {
  readonly publish: (
    records: ReadonlyArray<OutgoingRecord>
  ) => Effect.Effect<Published, RecordPublishError>
}

const defaultWindow = 512
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

interface Prepared {
  readonly subject: string
  readonly data: Uint8Array
  readonly options: { readonly headers?: EncodedHeaders }
}

/** Makes a publisher over a connection; it lives until the scope closes. */
export const makeRecordPublisher = Effect.fnUntraced(function* (
  connection: ManagedConnection,
  options: PublisherOptions
): Effect.fn.Return<RecordPublisher, never, Scope.Scope> {
  const inbox = connection.newInbox()
  const deadline = Duration.fromInputUnsafe(options.ackDeadline ?? "10 seconds")
  let onReply: (token: string, message: Msg) => void = () => undefined
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      connection.native.subscribe(`${inbox}.*`, {
        callback: (thrown, message) => {
          if (thrown === null) onReply(message.subject.slice(inbox.length + 1), message)
        }
      })
    ),
    (subscription) =>
      Effect.sync(() => {
        if (!subscription.isClosed()) subscription.unsubscribe()
      })
  )
  let batches = 0
  const send = (records: ReadonlyArray<OutgoingRecord>) =>
    Effect.suspend(() => {
      batches += 1
      const batch = makeBatch({ connection, inbox, options, records, number: batches })
      onReply = batch.onReply
      return Effect.raceFirst(batch.run, batch.watch(deadline))
    })
  const publish = Effect.fnUntraced(function* (
    records: ReadonlyArray<OutgoingRecord>
  ): Effect.fn.Return<Published, RecordPublishError> {
    let stored = 0
    let duplicates = 0
    for (;;) {
      const outcome = yield* Effect.result(send(records.slice(stored)))
      if (Result.isSuccess(outcome)) {
        return { duplicates: duplicates + outcome.success.duplicates, last: outcome.success.last }
      }
      const { code, message, ...broken } = outcome.failure
      stored += broken.stored
      duplicates += broken.duplicates
      // The first record of a batch waits for no other, so that each turn brings at least one.
      if (code === "out-of-turn" && broken.stored > 0) continue
      const named = code === "out-of-turn" ? "refused" : code
      return yield* new RecordPublishError({ code: named, stored, message })
    }
  })
  return { publish }
})

/** Why a batch broke off, and how many of its leading records are stored, or were before. */
interface BrokenBatch {
  readonly code: RecordPublishError["code"] | "out-of-turn"
  readonly message: string
  readonly stored: number
  readonly duplicates: number
}

/** One batch: sends while the window has room, counts answers, stops at the first failure. */
const makeBatch = (given: {
  readonly connection: ManagedConnection
  readonly inbox: string
  readonly options: PublisherOptions
  readonly records: ReadonlyArray<OutgoingRecord>
  readonly number: number
}) => {
  const { connection, records } = given
  const window = given.options.window ?? defaultWindow
  const answered = new Uint8Array(records.length)
  let sent = 0
  let answers = 0
  let duplicates = 0
  let last = 0
  let failure: Pick<BrokenBatch, "code" | "message"> | undefined
  let settle: (outcome: Effect.Effect<Published, BrokenBatch>) => void = () => undefined

  const stored = (): number => {
    const first = answered.indexOf(0)
    return first === -1 ? records.length : first
  }
  const brokenBy = (cause: Pick<BrokenBatch, "code" | "message">): BrokenBatch => ({
    ...cause,
    stored: stored(),
    duplicates
  })
  const fail = (code: BrokenBatch["code"], message: string): void => {
    failure ??= { code, message }
    settle(Effect.fail(brokenBy(failure)))
  }

  const send = (index: number): void => {
    const record = records[index]
    if (record === undefined) return
    const before = given.options.inTurn === true ? records[index - 1]?.messageId : undefined
    const prepared = prepare(record, before)
    if (typeof prepared === "string") return fail("invalid", `record ${index}: ${prepared}`)
    try {
      connection.native.publish(prepared.subject, prepared.data, {
        ...prepared.options,
        reply: `${given.inbox}.${given.number}-${index}`
      })
    } catch (thrown) {
      fail("too-large", `record ${index} cannot be sent: ${String(thrown)}`)
    }
  }

  const pump = (): void => {
    const mayGoOn = (): boolean => failure === undefined
    while (mayGoOn() && sent < records.length && sent - answers < window) send(sent++)
    if (mayGoOn() && answers === records.length) {
      settle(Effect.succeed({ duplicates, last: BigInt(last) }))
    }
  }

  const onReply = (token: string, message: Msg): void => {
    const [number, index] = token.split("-").map(Number)
    if (number !== given.number || index === undefined || failure !== undefined) return
    const answer = readAnswer(given.options.stream, message)
    if (answer.error !== undefined) return fail(answer.error.code, answer.error.message)
    if (answered[index] === 1) return
    answered[index] = 1
    answers += 1
    if (answer.duplicate) duplicates += 1
    last = Math.max(last, answer.seq)
    pump()
  }

  const run = Effect.callback<Published, BrokenBatch>((resume) => {
    settle = resume
    const remove = connection.onChange((state) => fail("unavailable", `NATS is ${state}`))
    if (connection.state() === "connected") pump()
    else fail("unavailable", `NATS is ${connection.state()}`)
    return Effect.sync(() => {
      // Answers that come after an interruption must not send more.
      failure ??= { code: "unavailable", message: "interrupted" }
      remove()
    })
  })

  const watch = (deadline: Duration.Duration): Effect.Effect<never, BrokenBatch> =>
    Effect.gen(function* () {
      for (let before = -1; before !== answers;) {
        before = answers
        yield* Effect.sleep(deadline)
      }
      const message = "JetStream acknowledged nothing in time"
      return yield* Effect.fail(brokenBy({ code: "unavailable", message }))
    })
  return { run, watch, onReply }
}

/** A record as it is sent; `before` is the message id that must stand last in the stream. */
const prepare = (record: OutgoingRecord, before: string | undefined): Prepared | string => {
  let subject: string
  try {
    subject = decoder.decode(record.subject)
  } catch {
    return "the subject is not UTF-8, which this client cannot send"
  }
  const fault = publishFault(subject)
  if (fault !== undefined) return fault
  const headers = [
    ...commandOf("Nats-Msg-Id", record.messageId),
    ...commandOf("Nats-Expected-Last-Msg-Id", before),
    ...disarmControlHeaders(record.headers)
  ]
  for (const each of headers) {
    const wrong = headerFault(each)
    if (wrong !== undefined) return wrong
  }
  return {
    subject,
    data: record.data,
    options: headers.length === 0 ? {} : { headers: new EncodedHeaders(encodeHeaderBlock(headers)) }
  }
}

const commandOf = (name: string, value: string | undefined): ReadonlyArray<RecordHeader> =>
  value === undefined ? [] : [[encoder.encode(name), encoder.encode(value)]]

interface Answer {
  readonly seq: number
  readonly duplicate: boolean
  readonly error?: Pick<BrokenBatch, "code" | "message">
}

/** A refusal is looked for first: it may name a stream and a sequence as well. */
const Acknowledgement = Schema.Union([
  Schema.Struct({
    error: Schema.Struct({
      code: Schema.Number,
      err_code: Schema.optionalKey(Schema.Number),
      description: Schema.String
    })
  }),
  Schema.Struct({
    stream: Schema.String,
    seq: Schema.Natural,
    duplicate: Schema.optionalKey(Schema.Boolean)
  })
])
const decodeAcknowledgement = Schema.decodeUnknownOption(Schema.fromJsonString(Acknowledgement))

const readAnswer = (stream: string, message: Msg): Answer => {
  const failed = (code: BrokenBatch["code"], text: string): Answer => ({
    seq: 0,
    duplicate: false,
    error: { code, message: text }
  })
  if (message.data.length === 0) {
    return failed("unavailable", "no stream takes this subject, or JetStream is not ready")
  }
  const decoded = decodeAcknowledgement(message.string())
  if (Option.isNone(decoded)) return failed("refused", `unknown answer: ${message.string()}`)
  const answer = decoded.value
  if ("error" in answer) {
    const code = codeOf(answer.error)
    return failed(code, `JetStream refused a record: ${answer.error.description}`)
  }
  if (answer.stream !== stream) {
    return failed("refused", `the stream ${answer.stream} takes the subject, not ${stream}`)
  }
  return { seq: answer.seq, duplicate: answer.duplicate ?? false }
}

const outOfTurn = 10_070
const storeFailed = 10_077
/** The server's or the account's resources are used up. */
const resourcesExceeded: ReadonlyArray<number | undefined> = [10_002, 10_023, 10_028, 10_047]

/** What a refusal means; the code of a failed store says less than its words. */
const codeOf = (error: {
  readonly code: number
  readonly err_code?: number
  readonly description: string
}): BrokenBatch["code"] => {
  if (error.err_code === outOfTurn) return "out-of-turn"
  const isLimit = error.err_code === storeFailed && /exceeded/.test(error.description)
  if (isLimit || resourcesExceeded.includes(error.err_code)) return "full"
  return error.code >= 500 ? "unavailable" : "refused"
}
