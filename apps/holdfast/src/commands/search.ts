/** `holdfast search`: the records of an archive that carry a tag's value. */
import { ArchiveClient } from "@holdfast/client"
import { failure } from "@holdfast/process"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { renderTable } from "../output/table.ts"
import { boundsFlags, parseBounds } from "../records/bounds.ts"
import { isoTime } from "../records/record-json.ts"
import { writeRecords } from "./read.ts"

const isOn = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

const flags = {
  ...connectionFlags,
  ...boundsFlags,
  archive: Argument.String("ARCHIVE").pipe(Argument.withDescription("The archive's name")),
  tag: Flag.String("tag").pipe(Flag.withDescription("What to look for: name=value")),
  count: isOn("count", "Only how many there are"),
  segments: isOn("segments", "Only the segments that would be read"),
  raw: isOn("raw", "Only the payloads, a line end behind each"),
  json: isOn("json", "Print JSON; records are NDJSON anyhow")
}

/** Splits `name=value` at its first equals sign. */
export const parseTag = (text: string) => {
  const at = text.indexOf("=")
  return at <= 0
    ? Effect.fail(failure(`--tag is "${text}"; right would be name=value, such as origin=SEA`))
    : Effect.succeed({ name: text.slice(0, at), value: text.slice(at + 1) })
}

/** `holdfast search ARCHIVE --tag name=value`. */
export const searchCommand = Command.make("search", flags, (options) =>
  Effect.gen(function* () {
    const archives = yield* ArchiveClient
    const tag = yield* parseTag(options.tag)
    const { timeFrom, timeTo, ...positions } = yield* parseBounds(options)
    if (Object.keys(positions).length > 0) {
      return yield* failure("search takes times for --from and --to, such as 2026-01-31")
    }
    const query = { archive: options.archive, tag, timeFrom, timeTo }
    if (options.count) {
      const count = yield* archives.searchCount(query)
      return yield* writeLine(options.json ? toJson({ count }) : String(count))
    }
    if (options.segments) {
      const found = yield* archives.searchSegments(query)
      if (options.json) return yield* writeLine(toJson(found))
      const rows = found.map((one) => [
        one.shard,
        one.first.toString(),
        one.last.toString(),
        one.count,
        isoTime(one.timeMin)
      ])
      return yield* writeLine(renderTable(["shard", "first", "last", "records", "from"], rows))
    }
    yield* writeRecords(archives.search(query), options.raw)
  }).pipe(Effect.provide(connectedLayer(options)))
).pipe(Command.withDescription("Find records by a tag"))
