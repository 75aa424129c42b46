/** `holdfast chunks`: how chunks are held, one of them with its copies, those with a reason. */
import { failure, jsonFlag } from "@holdfast/process"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { chunkLimitFlag, chunkOf, troubledOf } from "../connection/observe-chunks.ts"
import { metadataStatus } from "../connection/observe.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatAge, formatBytes, renderPairs, renderTable } from "../output/table.ts"

const chunks = Command.make("chunks").pipe(
  Command.withSharedFlags({ ...connectionFlags, json: jsonFlag })
)

type MetadataStatus = Effect.Success<ReturnType<typeof metadataStatus>>

const renderSummary = ({ chunks: counts, pending, repair, safeMode }: MetadataStatus): string =>
  renderPairs([
    ["safe mode", safeMode.phase],
    ["chunks", counts.known],
    ["  at goal", counts.atGoal],
    ["    badly spread", counts.badlySpread ?? 0],
    ["  below goal", counts.belowGoal],
    ["  surplus", counts.surplus],
    ["  unknown", counts.unknown],
    ["  missing", counts.missing],
    ["  corrupt", counts.corrupt],
    ["wait for a copy", ""],
    ["  only copy left", repair?.onlyCopy ?? 0],
    ["  very low", repair?.veryLow ?? 0],
    ["  low", repair?.low ?? 0],
    ["  badly spread", repair?.badlySpread ?? 0],
    ["copies under way", pending.copies],
    ["deletions pending", pending.deletions],
    ["  oldest since", formatAge(pending.oldestDeletionMs ?? 0)],
    ["unknown copies", pending.quarantined]
  ])

type Chunk = Effect.Success<ReturnType<typeof chunkOf>>

const renderChunk = (name: string, { chunk, copies, goal, health, reason, sentence }: Chunk) => {
  const head = renderPairs([
    ["chunk", name],
    ["version", chunk?.version ?? "not committed"],
    ["length", chunk === undefined ? "-" : formatBytes(chunk.length)],
    ["goal", goal ?? "-"],
    ["health", health ?? "-"],
    ["reason", reason === undefined ? "-" : `${reason}: ${sentence ?? ""}`]
  ])
  if (copies.length === 0) return `${head}\n\nno copy is known`
  const rows = copies.map((copy) => [copy.deviceId, copy.hostId, copy.version, copy.state])
  return `${head}\n\n${renderTable(["device", "host", "version", "state"], rows)}`
}

const readName = (text: string) => {
  const [, fileId, chunkId] = /^(\d{1,15})\/(\d{1,10})$/.exec(text) ?? []
  return fileId === undefined
    ? Effect.fail(failure(`"${text}" is no chunk: it is written FILE/CHUNK, two numbers`))
    : Effect.succeed({ fileId: Number(fileId), chunkId: Number(chunkId) })
}

const showFlags = {
  name: Argument.String("FILE/CHUNK").pipe(Argument.withDescription("The numbers of the chunk"))
}

const show = Command.make("show", showFlags, ({ name }) =>
  Effect.gen(function* () {
    const { cluster, json } = yield* chunks
    const found = yield* chunkOf({ cluster, request: yield* readName(name) })
    yield* writeLine(json ? toJson(found) : renderChunk(name, found))
  })
).pipe(Command.withDescription("Show one chunk, its copies and their states"))

const listFlags = {
  reason: Flag.String("reason").pipe(
    Flag.withDescription("Only those with this reason, for example missing"),
    Flag.optional
  ),
  limit: chunkLimitFlag
}

const list = Command.make("list", listFlags, ({ limit, reason }) =>
  Effect.gen(function* () {
    const { cluster, json } = yield* chunks
    const wanted = { cluster, reason: Option.getOrUndefined(reason), limit }
    const { found, more } = yield* troubledOf(wanted)
    if (json) return yield* writeLine(toJson({ chunks: found, more }))
    if (found.length === 0) return yield* writeLine("every chunk is held as it is meant to be")
    const rows = found.map(({ chunk, copies, goal, reason: why, sentence }) => [
      `${chunk.fileId}/${chunk.chunkId}`,
      `${copies} of ${goal}`,
      why,
      sentence
    ])
    yield* writeLine(renderTable(["chunk", "copies", "reason", "in words"], rows))
    if (more) yield* writeLine(`and more; --limit shows more than ${limit}`)
  })
).pipe(Command.withDescription("Chunks that are not held as they are meant to be, and why"))

/** `holdfast chunks`, `holdfast chunks show FILE/CHUNK` and `holdfast chunks list`. */
export const chunksCommand = chunks.pipe(
  Command.withHandler(({ cluster, json }) =>
    Effect.gen(function* () {
      const status = yield* metadataStatus(cluster)
      const { chunks: counts, pending, repair } = status
      yield* writeLine(json ? toJson({ chunks: counts, pending, repair }) : renderSummary(status))
    })
  ),
  Command.withDescription("How well chunks are held"),
  Command.withSubcommands([show, list]),
  Command.provide((options) => connectedLayer(options))
)
