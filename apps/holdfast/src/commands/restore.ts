/** `holdfast restore`: a stream made again from its recorded configuration, and filled. */
import { describeStream, NatsConnections } from "@holdfast/adapter-nats"
import type { RestorePlan } from "@holdfast/catalogue"
import { ArchiveClient } from "@holdfast/client"
import { type CommandFailure, failure, jsonFlag } from "@holdfast/process"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import {
  connectedLayer,
  connectionFlags,
  type ConnectionOptions,
  natsOf
} from "../connection/connect.ts"
import { sayLine } from "../output/progress.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { completeUpTo } from "../records/complete-up-to.ts"
import { paceFlags, parsePace } from "../records/pace.ts"
import { openTarget, replayWithProgress } from "../records/replay.ts"
import {
  hasOwnPositions,
  makeStream,
  pauseReader,
  planOf,
  refuseOthers,
  type Restoring
} from "../records/restore.ts"

const isOn = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

const flags = {
  ...connectionFlags,
  ...paceFlags,
  archive: Argument.String("ARCHIVE").pipe(Argument.withDescription("The archive's name")),
  into: Flag.String("into").pipe(
    Flag.withDescription("Another stream than the archived one; it may exist"),
    Flag.optional
  ),
  subjects: Flag.String("subjects").pipe(
    Flag.withDescription("Subjects instead of the recorded ones, comma separated"),
    Flag.optional
  ),
  adjustLimits: isOn("adjust-limits", "Lift recorded limits that would drop records again"),
  keepLimits: isOn("keep-limits", "Keep such limits, and lose what they drop"),
  json: jsonFlag
}

const restoringOf = Effect.fnUntraced(function* (
  options: ConnectionOptions & { readonly archive: string; readonly into: Option.Option<string> }
) {
  const archives = yield* ArchiveClient
  const { control } = yield* NatsConnections
  const archive = yield* archives.show(options.archive)
  const stream = Option.getOrElse(options.into, () => archive.origin.stream)
  const restoring: Restoring = {
    archive,
    totals: yield* archives.totals(options.archive),
    stream,
    existing: Option.getOrUndefined(yield* describeStream(control, { stream })),
    connection: control
  }
  return restoring
})

/** Refuses limits that would drop records, unless it was said what to do about them. */
const checkHazards = (
  { hazards, obstacles }: RestorePlan,
  options: { readonly adjustLimits: boolean; readonly keepLimits: boolean }
): Effect.Effect<void, CommandFailure> => {
  if (hazards.length === 0 || options.adjustLimits) return Effect.void
  if (!options.keepLimits) {
    const found = hazards.join("; ")
    return Effect.fail(
      failure(
        `the recorded limits would drop records again (${found}): lift them with --adjust-limits, or ` +
          "go on with --keep-limits"
      )
    )
  }
  return obstacles.length === 0
    ? Effect.void
    : Effect.fail(failure(`${obstacles.join("; ")}; this must be lifted with --adjust-limits`))
}

/** What is to be said of an archive once its stream is back. */
const adviceOf = (facts: {
  readonly restoring: Restoring
  readonly wasActive: boolean
  readonly isAligned: boolean
}): string => {
  const { isAligned, restoring, wasActive } = facts
  const { name } = restoring.archive.origin
  if (isAligned && wasActive) return `${name} goes on with the restored stream`
  return isAligned
    ? `the positions are the archived ones; \`holdfast archive resume ${name}\` lets it go on`
    : `${name} stays paused: the restored stream counts its records anew; archive it under another name`
}

type RestoreOptions = Command.Command.Config.Infer<typeof flags>

/** The stream, made if there is none; answers what is not as it was recorded. */
const ensureStream = Effect.fnUntraced(function* (restoring: Restoring, options: RestoreOptions) {
  if (restoring.existing !== undefined) {
    if (Option.isNone(options.into)) yield* refuseOthers(restoring)
    return []
  }
  const subjects = Option.getOrUndefined(options.subjects)?.split(",")
  const plan = yield* planOf(restoring, {
    lifts: options.adjustLimits,
    subjects: subjects?.map((subject) => subject.trim())
  })
  yield* checkHazards(plan, options)
  yield* makeStream(restoring, plan)
  for (const one of plan.changed) yield* sayLine(`${restoring.stream}: ${one}`)
  return plan.changed
})

const restore = Effect.fnUntraced(function* (options: RestoreOptions) {
  const archives = yield* ArchiveClient
  const { cluster } = options
  const pace = yield* parsePace(options)
  const restoring = yield* restoringOf(options)
  const { archive, stream, totals } = restoring
  const { name } = archive.origin
  const upTo = yield* completeUpTo({ cluster, archive, totals })
  const changed = yield* ensureStream(restoring, options)
  const wasActive = yield* pauseReader(restoring)
  const target = yield* openTarget({ ...options, stream })
  const report = yield* replayWithProgress({ archive: name, cluster, target, upTo, pace })
  const isOwn = stream === archive.origin.stream
  const isAligned = isOwn && (yield* hasOwnPositions(restoring))
  if (wasActive && isAligned) yield* archives.resume(name)
  if (isOwn) yield* sayLine(adviceOf({ restoring, wasActive, isAligned }))
  yield* writeLine(
    options.json
      ? toJson({ ...report, stream, changed, isAligned })
      : `${report.published} records of ${name} restored into ${stream}`
  )
}, Effect.scoped)

/** `holdfast restore ARCHIVE`. */
export const restoreCommand = Command.make("restore", flags, (options) =>
  Effect.gen(function* () {
    const connections = yield* natsOf(options, "holdfast-restore")
    if (Option.isNone(connections)) {
      return yield* failure(
        "restore makes streams of JetStream; name the servers with --nats, or use `replay --into`"
      )
    }
    yield* restore(options).pipe(
      Effect.provide(connectedLayer(options)),
      Effect.provide(connections.value)
    )
  })
).pipe(Command.withDescription("Make a stream again as it was, and fill it from its archive"))
