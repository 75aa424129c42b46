/**
 * A JetStream stream as `archive add` looks at it: what is recorded of it, and what would keep its
 * archive from working. A stream that is not there yet is none of its business: the archive waits.
 */
import {
  describeStream,
  listenFault,
  matchesSubject,
  NatsConnections,
  type StreamDescription
} from "@holdfast/adapter-nats"
import { failure } from "@holdfast/process"
import { letterSubjects } from "@holdfast/worker-app"
import { Effect, Option, Schema } from "effect"
import { type ConnectionOptions, natsOf } from "../connection/connect.ts"

/** What is to be archived. */
export interface ArchivedStream {
  readonly stream: string
  readonly filter: string | undefined
  readonly deadLetter: string | undefined
}

const Retention = Schema.fromJsonString(
  Schema.Struct({ retention: Schema.optionalKey(Schema.String) })
)
const streamName = /^[A-Za-z0-9_-]{1,255}$/

/** Why a stream cannot be archived, as far as it tells by itself. */
const streamFault = ({ configuration, stream }: StreamDescription): string | undefined => {
  const { retention = "limits" } = Schema.decodeUnknownSync(Retention)(configuration)
  return retention === "limits"
    ? undefined
    : `the stream ${stream} has the retention "${retention}", which deletes what was delivered; only ` +
        '"limits" streams can be archived'
}

const letterFault = ({ stream, subjects }: StreamDescription): string | undefined => {
  const [sample = ""] = letterSubjects(stream).map((subject) => subject.replace(">", "x"))
  return subjects.some((filter) => matchesSubject(filter, sample))
    ? undefined
    : `the stream ${stream} exists and does not take dead letters, whose subjects are ` +
        `"${letterSubjects(stream).join(", ")}"; name another one, which is made when it is needed`
}

/** What is wrong with the words alone. */
const wordFault = ({ deadLetter, filter }: ArchivedStream): string | undefined => {
  const fault = filter === undefined ? undefined : listenFault(filter)
  if (fault !== undefined) return `--filter cannot be used: ${fault}`
  return deadLetter === undefined || streamName.test(deadLetter)
    ? undefined
    : `--dead-letter is "${deadLetter}"; right would be a stream's name: letters, digits, "-" or "_"`
}

/** Refuses what cannot work, and answers the stream's configuration where it has one. */
export const lookAtStream = Effect.fnUntraced(function* (
  options: ConnectionOptions,
  archived: ArchivedStream
) {
  const wrong = wordFault(archived)
  if (wrong !== undefined) return yield* failure(wrong)
  const connections = yield* natsOf(options, "holdfast-archive")
  if (Option.isNone(connections)) return undefined
  const look = Effect.gen(function* () {
    const { control } = yield* NatsConnections
    const of = (stream: string) =>
      Effect.map(describeStream(control, { stream }), Option.getOrUndefined)
    const { deadLetter, stream } = archived
    const letters = deadLetter === undefined ? undefined : yield* of(deadLetter)
    return { found: yield* of(stream), letters }
  })
  const { found, letters } = yield* Effect.provide(look, connections.value)
  const fault =
    (found === undefined ? undefined : streamFault(found)) ??
    (letters === undefined ? undefined : letterFault(letters))
  return fault === undefined ? found?.configuration : yield* failure(fault)
})
