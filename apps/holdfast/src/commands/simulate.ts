/** `holdfast simulate`: whole clusters under faults, from seeds; a violation is a status of 1. */
import { failure, numberFlag } from "@holdfast/process"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { openProgress } from "../output/progress.ts"
import { writeLine } from "../output/standard-output.ts"

const flags = {
  seed: numberFlag({
    name: "seed",
    description: "The first seed; the others follow it",
    value: 1,
    least: 0,
    most: 4_294_967_295
  }),
  runs: numberFlag({
    name: "runs",
    description: "How many runs, each with a seed of its own",
    value: 1,
    least: 1,
    most: 1_000_000
  }),
  profile: Flag.String("profile").pipe(
    Flag.withDescription("archive, chunks, peers, members, workers, stages, mixed, room, or all"),
    Flag.withDefault("all")
  ),
  only: Flag.String("only").pipe(
    Flag.withDescription("Run with these faults of the seed alone: their numbers, or none"),
    Flag.optional
  )
}

const numbersOf = (text: string) =>
  text === "none"
    ? Effect.succeed([])
    : Effect.forEach(text.split(","), (number) =>
        /^\d{1,9}$/.test(number)
          ? Effect.succeed(Number(number))
          : failure(`--only has "${number}"; right would be numbers of faults, as 0,2, or none`)
      )

/** `holdfast simulate`. */
export const simulateCommand = Command.make("simulate", flags, ({ only, profile, runs, seed }) =>
  Effect.gen(function* () {
    // The other commands need not wait for a simulator to load.
    const { describeFound, simulate, UnknownProfile } = yield* Effect.promise(
      () => import("@holdfast/simulation")
    )
    const chosen = Option.isSome(only) ? { only: yield* numbersOf(only.value) } : {}
    /** One run; the loop is left between two of them, so that it can be interrupted. */
    const runOne = (runSeed: number) =>
      Effect.try({
        try: () => simulate({ seed: runSeed, runs: 1, profile, ...chosen }),
        catch: (error) => {
          if (error instanceof UnknownProfile) return error
          throw error
        }
      }).pipe(
        Effect.delay(0),
        Effect.catch((error) => failure(error.message))
      )
    const report = yield* openProgress({ label: "simulating", unit: "runs", total: runs })
    const started = performance.now()
    let [virtualMillis, events] = [0, 0]
    for (let run = 0; run < runs; run += 1) {
      const result = yield* runOne(seed + run)
      virtualMillis += result.virtualMillis
      events += result.events
      yield* report(run + 1)
      if (result.found === undefined) continue
      for (const line of describeFound(result.found)) yield* writeLine(line)
      return yield* failure(`an invariant is broken in run ${run + 1} of ${runs}`)
    }
    const seconds = (performance.now() - started) / 1_000
    const hours = (virtualMillis / 3_600_000).toFixed(2)
    const rate = Math.round(events / seconds).toLocaleString("en-US")
    yield* writeLine(`${runs} runs, no invariant broken; seeds ${seed} to ${seed + runs - 1}`)
    yield* writeLine(`${hours} virtual hours in ${seconds.toFixed(1)} s, ${rate} events a second`)
  }).pipe(Effect.scoped)
).pipe(Command.withDescription("Run whole clusters under faults, from seeds, in virtual time"))
