/** Runs the command line as a process. */
import { holdfastVersion, runProcess } from "@holdfast/process"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { holdfastCommand } from "./holdfast-command.ts"
import { guardOutput, OutputClosed } from "./output/standard-output.ts"

const program = Effect.andThen(
  guardOutput,
  Command.run(holdfastCommand, { version: holdfastVersion })
).pipe(
  // Nobody reads on: the command has nothing left to do, and did nothing wrong.
  Effect.catchIf(
    (error) => error instanceof OutputClosed,
    () => Effect.void
  )
)

runProcess(program)
