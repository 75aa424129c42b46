/** `holdfast archive`: what is archived, and how. */
import { ArchiveClient, type ArchiveTotals } from "@holdfast/client"
import { type ArchiveEntry, parseTagRule, type TagRule } from "@holdfast/catalogue"
import { describeStream, NatsConnections } from "@holdfast/adapter-nats"
import { jsonFlag, natsConnections } from "@holdfast/process"
import { Effect, Option, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { connectedLayer, connectionFlags, type ConnectionOptions } from "../connection/connect.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatBytes, renderPairs, renderTable } from "../output/table.ts"
import { isoTime } from "../records/record-json.ts"

const positive = (name: string, description: string) =>
  Flag.Int(name).pipe(Flag.withDescription(description), Flag.optional)

const addFlags = {
  ...connectionFlags,
  json: jsonFlag,
  stream: Argument.String("STREAM").pipe(Argument.withDescription("The stream to archive")),
  name: Flag.String("name").pipe(
    Flag.withDescription("The archive's name; the stream's when absent"),
    Flag.optional
  ),
  filter: Flag.String("filter").pipe(
    Flag.withDescription("Archive only subjects that match"),
    Flag.optional
  ),
  goal: positive("goal", "Copies of each segment (2)"),
  segmentBytes: positive("segment-bytes", "Seal a segment at so many bytes (8388608)"),
  segmentRecords: positive("segment-records", "Seal a segment at so many records (1000000)"),
  segmentAgeMs: positive("segment-age-ms", "Seal a segment at this age (10000)"),
  keepDays: positive("keep-days", "Remove segments older than so many days"),
  tags: Flag.String("tag").pipe(
    Flag.withDescription(
      'A tag, repeatable: "region=subject:1", "kind=header:Kind", "mag=json:mag,number:1"'
    ),
    Flag.atLeast(0)
  )
}

const millisPerDay = 86_400_000

/** The configuration of a JetStream stream; none of one that is not there yet, or of the spool. */
const configurationOf = (options: ConnectionOptions & { readonly stream: string }) =>
  Option.match(options.nats, {
    onNone: () => Effect.succeed(undefined),
    onSome: () =>
      Effect.flatMap(NatsConnections, ({ control }) => describeStream(control, options)).pipe(
        Effect.map((found) => Option.getOrUndefined(found)?.configuration),
        Effect.provide(natsConnections(options, "holdfast-archive"))
      )
  })

/** The tag rules as typed; the first that cannot be understood is the error. */
export const parseTagRules = (texts: ReadonlyArray<string>) =>
  Effect.forEach(texts, (text): Effect.Effect<TagRule, Error> =>
    Effect.fromResult(parseTagRule(text))
  )

const add = Command.make("add", addFlags, (flags) =>
  Effect.gen(function* () {
    const archives = yield* ArchiveClient
    const tags = yield* parseTagRules(flags.tags)
    const entry = yield* archives.add({
      name: Option.getOrElse(flags.name, () => flags.stream),
      stream: flags.stream,
      filter: Option.getOrUndefined(flags.filter),
      streamConfiguration: yield* configurationOf(flags),
      settings: {
        tags,
        segments: {
          bytes: Option.getOrElse(flags.segmentBytes, () => 8 * 1024 * 1024),
          records: Option.getOrElse(flags.segmentRecords, () => 1_000_000),
          ageMs: Option.getOrElse(flags.segmentAgeMs, () => 10_000)
        },
        ...(Option.isSome(flags.goal) ? { goal: flags.goal.value } : {}),
        ...(Option.isSome(flags.keepDays) ? { keepMs: flags.keepDays.value * millisPerDay } : {})
      }
    })
    yield* writeLine(
      flags.json ? toJson(entry) : `archiving stream ${entry.origin.stream} as ${entry.origin.name}`
    )
  }).pipe(Effect.provide(connectedLayer(flags)))
).pipe(Command.withDescription("Archive a stream from now on, from its oldest record"))

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
    ["status", status],
    ["created", isoTime(origin.created)],
    ["goal", settings.goal],
    ["tags", settings.tags.map(({ name }) => name).join(", ") || "none"],
    [
      "keeps",
      settings.keepMs === undefined ? "for ever" : `${settings.keepMs / millisPerDay} days`
    ],
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
    add,
    list,
    show,
    setStatus("pause", "Stop archiving for now; what is archived stays"),
    setStatus("resume", "Go on archiving where it was paused"),
    setStatus("remove", "End the archive and free everything it holds")
  ])
)
