/** What the operating system says of a path. */
import { type Stats, statSync } from "node:fs"
import { type CommandFailure, failure } from "@holdfast/process"
import { Effect } from "effect"

/** The words of an error of `node:fs`, which begin with its code. */
export const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause)

/** What is at a path; nothing is no error. */
export const statOf = (
  path: string,
  wanted: "read" | "written"
): Effect.Effect<Stats | undefined, CommandFailure> =>
  Effect.try({
    try: () => statSync(path, { throwIfNoEntry: false }),
    catch: (cause) => failure(`${path} cannot be ${wanted}: ${reasonOf(cause)}`)
  })
