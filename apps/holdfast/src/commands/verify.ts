/** `holdfast verify`: coverage, checksums and copies of an archive; a finding is a status of 1. */
import { ArchiveClient, type Finding } from "@holdfast/client"
import { failure, jsonFlag } from "@holdfast/process"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatBytes, renderPairs, renderTable } from "../output/table.ts"

const flags = {
  ...connectionFlags,
  json: jsonFlag,
  archive: Argument.String("ARCHIVE").pipe(Argument.withDescription("The archive's name")),
  everyCopy: Flag.Boolean("every-copy").pipe(
    Flag.withDescription("Read every copy of every segment, not just one"),
    Flag.withDefault(false)
  ),
  repair: Flag.Boolean("repair").pipe(
    Flag.withDescription("Adopt or free what the catalogue does not refer to"),
    Flag.withDefault(false)
  )
}

/** A finding as a table's row: what, where, and what became of it. */
const describe = (finding: Finding): readonly [string, string, string] => {
  switch (finding._tag) {
    case "Gap":
      return ["gap", `${finding.shard} ${finding.from} to ${finding.to}`, "no segment holds these"]
    case "Unreadable":
      return ["unreadable", `${finding.shard} ${finding.first} to ${finding.last}`, finding.reason]
    case "BadCopy":
      return [
        "bad copy",
        `${finding.shard} ${finding.first} on ${finding.deviceId}`,
        finding.reason
      ]
    case "FewCopies":
      return [
        "few copies",
        `chunk ${finding.chunk.chunkId}`,
        `${finding.copies} of ${finding.goal}`
      ]
    case "Orphan":
      return ["orphan", `chunk ${finding.chunk.chunkId}`, finding.outcome]
    case "Covered":
      return ["covered", `${finding.shard} ${finding.first} to ${finding.last}`, finding.outcome]
    case "NoChunk":
      return ["no chunk", `chunk ${finding.chunkId}`, "the metadata service does not have it"]
  }
}

/** `holdfast verify ARCHIVE`. */
export const verifyCommand = Command.make("verify", flags, (options) =>
  Effect.gen(function* () {
    const archives = yield* ArchiveClient
    const { archive, everyCopy, repair } = options
    const report = yield* archives.verify({ archive, everyCopy, repair })
    if (options.json) yield* writeLine(toJson(report))
    else {
      yield* writeLine(
        renderPairs([
          ["segments", report.segments],
          ["records", report.records],
          ["bytes", formatBytes(report.bytes)],
          ["copies", report.copies],
          ["findings", report.findings.length]
        ])
      )
      if (report.findings.length > 0) {
        const rows = report.findings.map(describe)
        yield* writeLine(`\n${renderTable(["finding", "where", "what"], rows)}`)
      }
    }
    if (!report.sound) {
      return yield* failure(`archive ${archive} is not sound; the findings above say where`)
    }
  }).pipe(Effect.provide(connectedLayer(options)))
).pipe(Command.withDescription("Check that an archive is whole"))
