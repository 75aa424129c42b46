/** `--rate`, `--timing` and `--factor`: how fast records are published again. */
import type { ReplayPace } from "@holdfast/client"
import { type CommandFailure, failure } from "@holdfast/process"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"

/** The flags. */
export const paceFlags = {
  rate: Flag.Finite("rate").pipe(Flag.withDescription("Records a second at most"), Flag.optional),
  timing: Flag.Literals("timing", ["fastest", "original"]).pipe(
    Flag.withDescription("original: with the distances in time that the records had"),
    Flag.withDefault("fastest" as const)
  ),
  factor: Flag.Finite("factor").pipe(
    Flag.withDescription("With --timing original: so many times as fast (1)"),
    Flag.optional
  )
}

/** What the flags say. */
export const parsePace = (options: {
  readonly rate: Option.Option<number>
  readonly timing: "fastest" | "original"
  readonly factor: Option.Option<number>
}): Effect.Effect<ReplayPace, CommandFailure> => {
  const { factor, rate, timing } = options
  const wrong = (message: string) => Effect.fail(failure(message))
  if (Option.isSome(rate) && timing === "original") {
    return wrong("--rate and --timing original exclude each other; name one of them")
  }
  if (Option.isSome(factor) && timing !== "original") {
    return wrong("--factor goes with --timing original, such as --timing original --factor 10")
  }
  if (Option.isSome(rate)) {
    return rate.value > 0
      ? Effect.succeed({ _tag: "Rate", perSecond: rate.value })
      : wrong(`--rate is ${rate.value}; right would be records a second, such as 5000`)
  }
  if (timing === "fastest") return Effect.succeed({ _tag: "Fastest" })
  const times = Option.getOrElse(factor, () => 1)
  return times > 0
    ? Effect.succeed({ _tag: "Original", factor: times })
    : wrong(`--factor is ${times}; right would be a number above 0, such as 10`)
}
