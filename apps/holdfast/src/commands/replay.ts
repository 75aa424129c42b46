/** `holdfast replay`: an archive's records published again, into a stream. */
import { jsonFlag } from "@holdfast/process"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { boundsFlags, parseBounds } from "../records/bounds.ts"
import { paceFlags, parsePace } from "../records/pace.ts"
import { openTarget, refuseOwnStream, replayWithProgress } from "../records/replay.ts"
import { parseTag } from "./search.ts"

const flags = {
  ...connectionFlags,
  ...boundsFlags,
  ...paceFlags,
  archive: Argument.String("ARCHIVE").pipe(Argument.withDescription("The archive's name")),
  into: Flag.String("into").pipe(
    Flag.withDescription("The stream to publish to; it must take the records' subjects")
  ),
  shard: Flag.String("shard").pipe(Flag.withDescription("Only this shard"), Flag.optional),
  tag: Flag.String("tag").pipe(
    Flag.withDescription("Only records with a tag's value: name=value"),
    Flag.optional
  ),
  json: jsonFlag
}

/** `holdfast replay ARCHIVE --into STREAM`. */
export const replayCommand = Command.make("replay", flags, (options) =>
  Effect.gen(function* () {
    const { archive, cluster, into } = options
    const bounds = yield* parseBounds(options)
    const pace = yield* parsePace(options)
    const tag = yield* Effect.transposeOption(Option.map(options.tag, parseTag))
    yield* refuseOwnStream({ archive, stream: into })
    const report = yield* replayWithProgress({
      archive,
      cluster,
      target: yield* openTarget({ ...options, stream: into }),
      ...bounds,
      shard: Option.getOrUndefined(options.shard),
      tag: Option.getOrUndefined(tag),
      pace
    })
    yield* writeLine(
      options.json
        ? toJson({ ...report, into })
        : `${report.published} records of ${archive} replayed into ${into}`
    )
  }).pipe(Effect.scoped, Effect.provide(connectedLayer(options)))
).pipe(Command.withDescription("Publish an archive's records again, once each, into a stream"))
