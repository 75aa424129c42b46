/** The flags that say how records are kept, and settings as people read them. */
import {
  type Acknowledgement,
  type Aggregation,
  type ArchiveSettings,
  archiveSettingsDefault,
  type Compression,
  parseTagRule,
  type TagRule
} from "@holdfast/catalogue"
import { type CommandFailure, failure } from "@holdfast/process"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { type Cell, formatAge, formatBytes } from "../output/table.ts"

const count = (name: string, description: string) =>
  Flag.Int(name).pipe(Flag.withDescription(description), Flag.optional)

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

/** The flags. */
export const settingsFlags = {
  goal: count("goal", "Copies of each segment (2)"),
  segmentBytes: count("segment-bytes", "Seal a segment at so many bytes (8388608)"),
  segmentRecords: count("segment-records", "Seal a segment at so many records (1000000)"),
  segmentAgeMs: count("segment-age-ms", "Seal a segment at this age (10000)"),
  compression: text("compression", "none, zstd, or zstd:LEVEL with a level from 1 to 19 (zstd:3)"),
  keep: text("keep", "Remove segments older than this, such as 365d, 12h or 30m"),
  keepDays: count("keep-days", "The same in days"),
  onError: Flag.Literals("on-error", ["halt", "skip", "dead-letter"]).pipe(
    Flag.withDescription("What follows a record that cannot be archived (halt)"),
    Flag.optional
  ),
  deadLetter: text("dead-letter", "The stream for such records; means --on-error dead-letter"),
  tags: Flag.String("tag").pipe(
    Flag.withDescription(
      'A tag, repeatable: "region=subject:1", "kind=header:Kind", "mag=json:mag,number:1"'
    ),
    Flag.atLeast(0)
  )
}

/** What the flags say. */
export interface SettingsOptions {
  readonly goal: Option.Option<number>
  readonly segmentBytes: Option.Option<number>
  readonly segmentRecords: Option.Option<number>
  readonly segmentAgeMs: Option.Option<number>
  readonly compression: Option.Option<string>
  readonly keep: Option.Option<string>
  readonly keepDays: Option.Option<number>
  readonly onError: Option.Option<ArchiveSettings["onError"]>
  readonly deadLetter: Option.Option<string>
  readonly tags: ReadonlyArray<string>
}

const millisPerDay = 86_400_000
const millisOfUnit: ReadonlyMap<string, number> = new Map([
  ["d", millisPerDay],
  ["h", 3_600_000],
  ["m", 60_000]
])

/** The tag rules as typed; the first that cannot be understood is the error. */
export const parseTagRules = (texts: ReadonlyArray<string>) =>
  Effect.forEach(texts, (typed): Effect.Effect<TagRule, Error> =>
    Effect.fromResult(parseTagRule(typed))
  )

const parseKeep = ({
  keep,
  keepDays
}: SettingsOptions): Effect.Effect<number | undefined, CommandFailure> => {
  if (Option.isNone(keep)) {
    return Effect.succeed(
      Option.getOrUndefined(Option.map(keepDays, (days) => days * millisPerDay))
    )
  }
  const [, amount = "", unit = ""] = /^(\d{1,9})([dhm])$/.exec(keep.value) ?? []
  const millis = millisOfUnit.get(unit)
  return millis === undefined || Option.isSome(keepDays)
    ? Effect.fail(failure(`--keep is "${keep.value}"; right would be one of 365d, 12h or 30m`))
    : Effect.succeed(Number(amount) * millis)
}

const parseCompression = (typed: string): Effect.Effect<Compression, CommandFailure> => {
  if (typed === "none") return Effect.succeed({ _tag: "None" })
  const level = typed === "zstd" ? "3" : /^zstd:(\d{1,2})$/.exec(typed)?.[1]
  return level === undefined
    ? Effect.fail(failure(`--compression is "${typed}"; right would be none, zstd or zstd:19`))
    : Effect.succeed({ _tag: "Zstd", level: Number(level) })
}

/** The settings that the flags say; what they leave open is the default. */
export const parseSettings = Effect.fnUntraced(function* (options: SettingsOptions) {
  const { segments } = archiveSettingsDefault
  const keepMs = yield* parseKeep(options)
  const { deadLetter, goal } = options
  const settings: Partial<ArchiveSettings> = {
    tags: yield* parseTagRules(options.tags),
    segments: {
      bytes: Option.getOrElse(options.segmentBytes, () => segments.bytes),
      records: Option.getOrElse(options.segmentRecords, () => segments.records),
      ageMs: Option.getOrElse(options.segmentAgeMs, () => segments.ageMs)
    },
    onError: Option.getOrElse(options.onError, () =>
      Option.isSome(deadLetter) ? "dead-letter" : archiveSettingsDefault.onError
    ),
    ...(Option.isSome(goal) ? { goal: goal.value } : {}),
    ...(Option.isSome(options.compression)
      ? { compression: yield* parseCompression(options.compression.value) }
      : {}),
    ...(keepMs === undefined ? {} : { keepMs }),
    ...(Option.isSome(deadLetter) ? { deadLetter: deadLetter.value } : {})
  }
  if (Option.isSome(deadLetter) && settings.onError !== "dead-letter") {
    return yield* failure(
      `--dead-letter goes with --on-error dead-letter, not with --on-error ${settings.onError}`
    )
  }
  return settings
})

const compressionText = (compression: Compression): string => {
  switch (compression._tag) {
    case "None":
      return "none"
    case "Zstd":
      return `zstd, level ${compression.level}`
  }
}

/** What becomes of aggregated messages, for people. */
export const aggregationText = (aggregation: Aggregation = "none"): string => {
  switch (aggregation) {
    case "none":
      return "kept as they are"
    case "kpl":
      return "opened: user records of the KPL"
    case "kpl-and-private":
      return "opened: user records of the KPL and of its private variants"
  }
}

/** What a stream is told of what is archived, for people. */
export const acknowledgementText = (acknowledgement: Acknowledgement = "none"): string => {
  switch (acknowledgement) {
    case "none":
      return "nothing"
    case "watermark":
      return "what is archived, by a durable consumer"
  }
}

/** Settings for people, a pair each. */
export const settingsPairs = (
  settings: ArchiveSettings
): ReadonlyArray<readonly [name: string, value: Cell]> => {
  const { compression, deadLetter, keepMs, onError, segments, tags } = settings
  return [
    ["goal", settings.goal],
    ["tags", tags.map(({ name }) => name).join(", ") || "none"],
    ["keeps", keepMs === undefined ? "for ever" : formatAge(keepMs)],
    [
      "seals at",
      `${formatBytes(segments.bytes)}, ${segments.records.toLocaleString("en-US")} records, ${formatAge(segments.ageMs)}`
    ],
    ["compression", compressionText(compression)],
    ["on error", deadLetter === undefined ? onError : `${onError}, into ${deadLetter}`]
  ]
}
