/** `holdfast ingest`: files or standard input into a stream. */
import { statSync } from "node:fs"
import { failure, jsonFlag } from "@holdfast/process"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import {
  type ConnectionOptions,
  connectionFlags,
  messagingLayer,
  natsOf
} from "../connection/connect.ts"
import { openProgress } from "../output/progress.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { appendToJetStream, appendToSpool } from "../records/append.ts"
import { type AppendBatch, ingestText } from "../records/ingest.ts"
import { formatOf, textFlags } from "../records/text-input.ts"

const flags = {
  ...connectionFlags,
  ...textFlags,
  json: jsonFlag,
  files: Argument.String("FILE").pipe(
    Argument.withDescription("A file, or - for standard input"),
    Argument.variadic({ min: 1 })
  ),
  stream: Flag.String("stream").pipe(Flag.withDescription("The stream to append to")),
  subject: Flag.String("subject").pipe(
    Flag.withDescription("The subject of the records; the stream's name when absent"),
    Flag.optional
  ),
  after: Flag.Int("after").pipe(
    Flag.withDescription("Pass over so many records of the file, to go on after a failure"),
    Flag.withDefault(0)
  )
}

const checkInputs = (files: ReadonlyArray<string>, after: number) =>
  Effect.gen(function* () {
    if (after < 0) return yield* failure("--after counts records; it cannot be below 0")
    if (after > 0 && files.length > 1) {
      return yield* failure("--after goes with one file; name the one to go on with")
    }
    for (const file of files) {
      if (file !== "-" && statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
        return yield* failure(`there is no file ${file}`)
      }
    }
  })

const withAppend = <A, E, R>(
  options: ConnectionOptions & { readonly stream: string; readonly subject: string },
  use: (append: AppendBatch) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const connections = yield* natsOf(options, "holdfast-ingest")
    return Option.isNone(connections)
      ? yield* Effect.flatMap(appendToSpool(options), use).pipe(
          Effect.provide(messagingLayer(options))
        )
      : yield* Effect.scoped(Effect.flatMap(appendToJetStream(options), use)).pipe(
          Effect.provide(connections.value)
        )
  })

/** `holdfast ingest FILE... --stream NAME`. */
export const ingestCommand = Command.make("ingest", flags, (options) =>
  Effect.gen(function* () {
    yield* checkInputs(options.files, options.after)
    const { stream } = options
    const subject = Option.getOrElse(options.subject, () => stream)
    const total = yield* withAppend({ ...options, subject }, (append) =>
      Effect.reduce(
        options.files,
        () => 0,
        (sum, file) =>
          Effect.scoped(
            Effect.gen(function* () {
              const report = yield* openProgress({ label: file, unit: "records", total: 0 })
              const stored = yield* ingestText({
                name: file === "-" ? "standard input" : file,
                from: file === "-" ? process.stdin : file,
                format: formatOf({ ...options, file }),
                subject,
                after: BigInt(options.after),
                append,
                onStored: report
              })
              return sum + stored
            })
          )
      )
    )
    yield* writeLine(options.json ? toJson({ stream, records: total }) : `${total} records stored`)
  })
).pipe(Command.withDescription("Append the records of files to a stream"))
