/** `holdfast archive`: what is archived, and how. */
import { ArchiveClient, type ArchiveTotals } from "@holdfast/client"
import type { ArchiveEntry } from "@holdfast/catalogue"
import { jsonFlag } from "@holdfast/process"
import { Effect, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatBytes, renderPairs, renderTable } from "../output/table.ts"
import { isoTime } from "../records/record-json.ts"
import { addCommand } from "./archive-add.ts"
import { acknowledgementText, aggregationText, settingsPairs } from "./archive-settings.ts"

const list = Command.make("list", { ...connectionFlags, json: jsonFlag }, (flags) =>
  Effect.gen(function* () {
    const archives = yield* ArchiveClient
    const entries = yield* Stream.runCollect(archives.list())
    if (flags.json) return yield* writeLine(toJson(entries))
    const rows = entries.map(({ origin, settings, status }) => [
      origin.name,
      origin.stream,
      status,
      settings.goal,
      settings.tags.map(({ name }) => name).join(", ")
    ])
    yield* writeLine(renderTable(["archive", "stream", "status", "goal", "tags"], rows))
  }).pipe(Effect.provide(connectedLayer(flags)))
).pipe(Command.withDescription("List the archives"))

const showFlags = {
  ...connectionFlags,
  json: jsonFlag,
  archive: Argument.String("ARCHIVE").pipe(Argument.withDescription("The archive's name"))
}

const show = Command.make("show", showFlags, (flags) =>
  Effect.gen(function* () {
    const archives = yield* ArchiveClient
    const entry = yield* archives.show(flags.archive)
    const totals = yield* archives.totals(flags.archive)
    yield* writeLine(flags.json ? toJson({ ...entry, totals }) : describe(entry, totals))
  }).pipe(Effect.provide(connectedLayer(flags)))
).pipe(Command.withDescription("Show one archive and what it holds"))

const describe = (entry: ArchiveEntry, totals: ArchiveTotals): string => {
  const { origin, settings, status } = entry
  const pairs = renderPairs([
    ["archive", origin.name],
    ["stream", origin.stream],
    ["filter", origin.filter ?? "all subjects"],
    ["aggregates", aggregationText(origin.aggregation)],
    ["acknowledges", acknowledgementText(origin.acknowledgement)],
    ["status", status],
    ["created", isoTime(origin.created)],
    ...settingsPairs(settings),
    ["segments", totals.segments],
    ["records", totals.records],
    ["raw", formatBytes(totals.rawBytes)],
    ["stored", `${formatBytes(totals.storedBytes)} a copy`],
    ["from", totals.timeMin === undefined ? "-" : isoTime(totals.timeMin)],
    ["to", totals.timeMax === undefined ? "-" : isoTime(totals.timeMax)]
  ])
  const shards = renderTable(
    ["shard", "segments", "records", "first", "last"],
    totals.shards.map((one) => [
      one.shard,
      one.segments,
      one.records,
      one.first.toString(),
      one.last.toString()
    ])
  )
  return totals.shards.length === 0 ? pairs : `${pairs}\n\n${shards}`
}

/** A command that changes what an archive is doing. */
const setStatus = (name: "pause" | "resume" | "remove", description: string) =>
  Command.make(name, showFlags, (flags) =>
    Effect.gen(function* () {
      const archives = yield* ArchiveClient
      const entry = yield* archives[name](flags.archive)
      yield* writeLine(flags.json ? toJson(entry) : `${flags.archive} is ${entry.status}`)
    }).pipe(Effect.provide(connectedLayer(flags)))
  ).pipe(Command.withDescription(description))

/** `holdfast archive ...`. */
export const archiveCommand = Command.make("archive").pipe(
  Command.withDescription("What is archived, and how"),
  Command.withSubcommands([
    addCommand,
    list,
    show,
    setStatus("pause", "Stop archiving for now; what is archived stays"),
    setStatus("resume", "Go on archiving where it was paused"),
    setStatus("remove", "End the archive and free everything it holds")
  ])
)
