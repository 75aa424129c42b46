/** `--from` and `--to`: a position (decimal digits) or a time (ISO 8601); both ends included. */
import { failure, type CommandFailure } from "@holdfast/process"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"

/** The flags. */
export const boundsFlags = {
  from: Flag.String("from").pipe(
    Flag.withDescription("The first position, or the earliest time as ISO 8601"),
    Flag.optional
  ),
  to: Flag.String("to").pipe(
    Flag.withDescription("The last position, or the latest time as ISO 8601"),
    Flag.optional
  )
}

/** What the flags said, as the client takes it. */
export interface Bounds {
  readonly from?: bigint
  readonly to?: bigint
  readonly timeFrom?: bigint
  readonly timeTo?: bigint
}

type Bound =
  | { readonly _tag: "Position"; readonly value: bigint }
  | { readonly _tag: "Time"; readonly value: bigint }

const isoPattern = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/
const nanosPerMilli = 1_000_000n

const parseBound = (flag: string, text: string): Effect.Effect<Bound, CommandFailure> => {
  if (/^\d{1,78}$/.test(text)) return Effect.succeed({ _tag: "Position", value: BigInt(text) })
  const millis = isoPattern.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(millis)
    ? Effect.fail(
        failure(
          `${flag} is "${text}"; right would be a position such as 1000 or a time such as ` +
            "2026-01-31T12:00:00Z"
        )
      )
    : Effect.succeed({ _tag: "Time", value: BigInt(millis) * nanosPerMilli + subMillis(text) })
}

/** The nanoseconds below a millisecond that a time was written with. */
const subMillis = (text: string): bigint => {
  const fraction = /\.(\d{1,9})/.exec(text)?.[1]?.padEnd(9, "0")
  return fraction === undefined ? 0n : BigInt(fraction.slice(3))
}

/** Reads both flags. */
export const parseBounds = Effect.fnUntraced(function* (options: {
  readonly from: Option.Option<string>
  readonly to: Option.Option<string>
}): Effect.fn.Return<Bounds, CommandFailure> {
  const from = yield* parseOptional("--from", options.from)
  const to = yield* parseOptional("--to", options.to)
  return {
    ...(from?._tag === "Position" ? { from: from.value } : {}),
    ...(from?._tag === "Time" ? { timeFrom: from.value } : {}),
    ...(to?._tag === "Position" ? { to: to.value } : {}),
    ...(to?._tag === "Time" ? { timeTo: to.value } : {})
  }
})

const parseOptional = (
  flag: string,
  text: Option.Option<string>
): Effect.Effect<Bound | undefined, CommandFailure> =>
  Option.match(text, {
    onNone: () => Effect.succeed(undefined),
    onSome: (value) => parseBound(flag, value)
  })
