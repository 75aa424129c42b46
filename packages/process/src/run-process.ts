/**
 * Runs a command to its end: signals interrupt it (finalizers run, bounded by the services' own
 * deadlines), a failure is one sentence on standard error, the exit status says how it went.
 *
 *     0 done    1 could not do it    130 / 143 stopped by a signal
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Effect, Exit, Fiber, Layer, Logger, References } from "effect"
import { CliError } from "effect/cli"
import { sentenceOfCause } from "./command-failure.ts"

const signalStatus = { SIGINT: 130, SIGTERM: 143 } as const
type StopSignal = keyof typeof signalStatus

/** Everything that is logged goes to standard error; standard output belongs to the command. */
const logging = Layer.mergeAll(
  Layer.succeed(Logger.LogToStderr, true),
  Layer.succeed(References.MinimumLogLevel, "Warn")
)

/** Runs a program and ends the process with its status. */
export const runProcess = <E>(program: Effect.Effect<void, E, NodeServices.NodeServices>): void => {
  const fiber = Effect.runFork(
    program.pipe(Effect.provide(Layer.mergeAll(NodeServices.layer, logging)))
  )
  let stoppedBy: StopSignal | undefined
  const stop = (signal: StopSignal) => () => {
    // A second signal does not wait for the finalizers.
    if (stoppedBy !== undefined) process.exit(signalStatus[signal])
    stoppedBy = signal
    fiber.interruptUnsafe()
  }
  process.on("SIGINT", stop("SIGINT"))
  process.on("SIGTERM", stop("SIGTERM"))
  void Effect.runPromise(Fiber.await(fiber)).then((exit) => {
    if (stoppedBy !== undefined) process.exit(signalStatus[stoppedBy])
    process.exit(statusOf(exit))
  })
}

const statusOf = (exit: Exit.Exit<void, unknown>): number => {
  if (Exit.isSuccess(exit)) return 0
  const error = Cause.squash(exit.cause)
  // The command line has already said what is wrong with its arguments.
  if (CliError.isCliError(error) && error._tag === "ShowHelp")
    return error.errors.length > 0 ? 1 : 0
  process.stderr.write(`holdfast: ${sentenceOfCause(exit.cause)}\n`)
  return 1
}
