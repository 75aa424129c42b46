/** `holdfast archive add`: a stream is archived from now on. */
import { ArchiveClient, type ArchiveDraft } from "@holdfast/client"
import { jsonFlag } from "@holdfast/process"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { renderPairs } from "../output/table.ts"
import { lookAtStream } from "../records/archived-stream.ts"
import {
  acknowledgementText,
  aggregationText,
  parseSettings,
  settingsFlags,
  settingsPairs
} from "./archive-settings.ts"

const flags = {
  ...connectionFlags,
  ...settingsFlags,
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
  aggregation: Flag.Literals("aggregation", ["none", "kpl", "kpl-and-private"]).pipe(
    Flag.withDescription(
      "Archive aggregated messages of the KPL as their user records, for the archive's life (none)"
    ),
    Flag.optional
  ),
  acknowledge: Flag.Literals("acknowledge", ["none", "watermark"]).pipe(
    Flag.withDescription(
      "watermark: read with a durable consumer, acknowledged up to what is archived (none)"
    ),
    Flag.optional
  ),
  check: Flag.Boolean("check").pipe(
    Flag.withDescription("Print the settings as they would be, and add nothing"),
    Flag.withDefault(false)
  )
}

const renderDraft = ({ origin, settings }: ArchiveDraft): string =>
  renderPairs([
    ["archive", origin.name],
    ["stream", origin.stream],
    ["filter", origin.filter ?? "all subjects"],
    ["aggregates", aggregationText(origin.aggregation)],
    ["acknowledges", acknowledgementText(origin.acknowledgement)],
    ...settingsPairs(settings),
    ["restorable", origin.streamConfiguration === undefined ? "not yet" : "yes"]
  ])

/** An archive that would be added, without what it gets only then. */
const draftJson = ({ origin, settings }: ArchiveDraft): string => {
  const { created: _created, fileId: _fileId, ...known } = origin
  return toJson({ origin: known, settings })
}

/** `holdfast archive add STREAM`. */
export const addCommand = Command.make("add", flags, (options) =>
  Effect.gen(function* () {
    const archives = yield* ArchiveClient
    const { stream } = options
    const settings = yield* parseSettings(options)
    const filter = Option.getOrUndefined(options.filter)
    const { deadLetter } = settings
    const wanted = {
      name: Option.getOrElse(options.name, () => stream),
      stream,
      filter,
      aggregation: Option.getOrUndefined(options.aggregation),
      acknowledgement: Option.getOrUndefined(options.acknowledge),
      settings,
      streamConfiguration: yield* lookAtStream(options, { stream, filter, deadLetter })
    }
    if (options.check) {
      const draft = yield* archives.draft(wanted)
      return yield* writeLine(options.json ? draftJson(draft) : renderDraft(draft))
    }
    const entry = yield* archives.add(wanted)
    yield* writeLine(
      options.json ? toJson(entry) : `archiving stream ${stream} as ${entry.origin.name}`
    )
  }).pipe(Effect.provide(connectedLayer(options)))
).pipe(Command.withDescription("Archive a stream from now on, from its oldest record"))
