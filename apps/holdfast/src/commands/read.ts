/** `holdfast read`: an archive's records in order, as NDJSON or as raw payloads. */
import { ArchiveClient, type ArchivedRecord } from "@holdfast/client"
import { Effect, Option, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { OutputClosed, writeOutput } from "../output/standard-output.ts"
import { boundsFlags, parseBounds } from "../records/bounds.ts"
import { recordJson } from "../records/record-json.ts"

const flags = {
  ...connectionFlags,
  ...boundsFlags,
  archive: Argument.String("ARCHIVE").pipe(Argument.withDescription("The archive's name")),
  shard: Flag.String("shard").pipe(Flag.withDescription("Only this shard"), Flag.optional),
  raw: Flag.Boolean("raw").pipe(
    Flag.withDescription("Only the payloads, a line end behind each"),
    Flag.withDefault(false)
  ),
  json: Flag.Boolean("json").pipe(
    Flag.withDescription("NDJSON, which is the default"),
    Flag.withDefault(false)
  )
}

const lineEnd = Uint8Array.of(10)
const recordsAtOnce = 1_000

/** Writes records as NDJSON, or raw; a pipe that was closed early ends it without an error. */
export const writeRecords = <E, R>(
  records: Stream.Stream<ArchivedRecord, E, R>,
  raw: boolean
): Effect.Effect<void, E, R> => {
  const render = (batch: ReadonlyArray<ArchivedRecord>): string | Uint8Array =>
    raw
      ? Buffer.concat(batch.flatMap(({ record }) => [record.data, lineEnd]))
      : batch.map((one) => `${recordJson(one)}\n`).join("")
  return records.pipe(
    Stream.grouped(recordsAtOnce),
    Stream.runForEach((batch) => writeOutput(render(batch))),
    Effect.catchIf(
      (error): error is OutputClosed => error instanceof OutputClosed,
      () => Effect.void
    )
  )
}

/** `holdfast read ARCHIVE`. */
export const readCommand = Command.make("read", flags, (options) =>
  Effect.gen(function* () {
    const archives = yield* ArchiveClient
    const bounds = yield* parseBounds(options)
    const shard = Option.getOrUndefined(options.shard)
    yield* writeRecords(archives.read({ archive: options.archive, shard, ...bounds }), options.raw)
  }).pipe(Effect.provide(connectedLayer(options)))
).pipe(Command.withDescription("Read an archive in order"))
