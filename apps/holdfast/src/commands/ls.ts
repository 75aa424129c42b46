/**
 * `holdfast ls`: the plain files of the cluster, by name, and below them the puts that did not end;
 * for `--json`, which one line is of one kind, these are asked for.
 */
import { FileClient, MetadataClient } from "@holdfast/client"
import { jsonFlag } from "@holdfast/process"
import { Effect, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { fileView } from "../files/file-view.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatBytes, renderTable } from "../output/table.ts"

const flags = {
  ...connectionFlags,
  json: jsonFlag,
  unfinished: Flag.Boolean("unfinished").pipe(
    Flag.withDescription(
      "Names of puts that did not end, or whose chunks are still to be freed: put them again, or rm them"
    ),
    Flag.withDefault(false)
  ),
  prefix: Argument.String("PREFIX").pipe(
    Argument.withDescription("Only files whose names begin so"),
    Argument.withDefault("")
  )
}

/** What puts left behind that did not end: how much of it is stored, by name. */
const findUnfinished = Effect.fnUntraced(function* (prefix: string) {
  const files = yield* FileClient
  const metadata = yield* MetadataClient
  const storedOf = (fileIds: ReadonlyArray<number>) =>
    Stream.fromIterable(fileIds).pipe(
      Stream.flatMap((fileId) => metadata.listChunks(fileId)),
      Stream.runFold(
        () => ({ bytes: 0, chunks: 0 }),
        ({ bytes, chunks }, { chunk }) => ({ bytes: bytes + chunk.length, chunks: chunks + 1 })
      )
    )
  return yield* files.listUnfinished(prefix).pipe(
    Stream.mapEffect(({ fileIds, name }) =>
      Effect.map(storedOf(fileIds), (stored) => ({ name, ...stored }))
    ),
    Stream.runCollect
  )
})

/** Only what puts left behind. */
const listUnfinished = Effect.fnUntraced(function* (options: {
  readonly json: boolean
  readonly prefix: string
}) {
  const found = yield* findUnfinished(options.prefix)
  if (options.json) return yield* writeLine(toJson(found))
  const rows = found.map(({ bytes, chunks, name }) => [name, formatBytes(bytes), chunks])
  yield* writeLine(renderTable(["file", "stored", "chunks"], rows))
})

/** `holdfast ls [PREFIX]`. */
export const lsCommand = Command.make("ls", flags, ({ json, prefix, unfinished }) =>
  Effect.gen(function* () {
    if (unfinished) return yield* listUnfinished({ json, prefix })
    const files = yield* FileClient
    const found = yield* files.list(prefix).pipe(Stream.map(fileView), Stream.runCollect)
    if (json) return yield* writeLine(toJson(found))
    const rows = found.map(({ bytes, chunks, goal, name, stored }) => [
      name,
      formatBytes(bytes),
      chunks,
      goal,
      stored.slice(0, "2026-01-01T00:00:00".length)
    ])
    const unfinishedRows = (yield* findUnfinished(prefix)).map((put) => [
      put.name,
      formatBytes(put.bytes),
      put.chunks,
      "",
      "unfinished"
    ])
    const headings = ["file", "size", "chunks", "copies", "stored (UTC)"]
    yield* writeLine(renderTable(headings, [...rows, ...unfinishedRows]))
  })
).pipe(
  Command.withDescription("List the files, by name, and puts that did not end"),
  Command.provide((options) => connectedLayer(options))
)
