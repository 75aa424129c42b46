/** Log lines of a process: on standard error, for people or as one JSON object a line. */
import { Layer, Logger, References } from "effect"
import type { logLevels } from "./observability-settings.ts"

/** How a process logs. */
export interface LoggingOptions {
  readonly logLevel: (typeof logLevels)[number]
  readonly logFormat: "text" | "json"
}

const levelOf = {
  none: "None",
  fatal: "Fatal",
  error: "Error",
  warn: "Warn",
  info: "Info",
  debug: "Debug",
  trace: "Trace"
} as const

/** Sets level and form; standard output stays the command's own. */
export const loggingLayer = ({ logFormat, logLevel }: LoggingOptions): Layer.Layer<never> =>
  Layer.mergeAll(
    Layer.succeed(Logger.LogToStderr, true),
    Layer.succeed(References.MinimumLogLevel, levelOf[logLevel]),
    Logger.layer([
      logFormat === "json" ? Logger.withConsoleError(Logger.formatJson) : Logger.defaultLogger
    ])
  )
