/** A module of the user's own that a process is told to run: it is named by its path. */
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { Effect } from "effect"
import { type CommandFailure, failure } from "./command-failure.ts"

/** The first line of what an error says; stacks and quoted sources are for nobody here. */
export const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message || error.name : String(error)).split("\n")[0] ?? ""

/**
 * What the module at a path exports. Fails with a sentence where there is no file, telling which
 * names are `shipped`, and where the file cannot be loaded.
 */
export const importModuleFile = Effect.fnUntraced(function* (options: {
  readonly named: string
  /** What the module should be, such as "pipeline". */
  readonly kind: string
  readonly shipped: ReadonlyArray<string>
}): Effect.fn.Return<unknown, CommandFailure> {
  const { kind, named, shipped } = options
  const path = resolve(named)
  if (!existsSync(path)) {
    return yield* failure(
      `there is no ${kind} "${named}"; right would be ${shipped.join(", ")}, or the path of a module`
    )
  }
  return yield* Effect.tryPromise({
    try: (): Promise<unknown> => import(pathToFileURL(path).href),
    catch: (error) =>
      failure(
        `${named} cannot be loaded as a module: ${firstLine(error)}; right would be a file of ` +
          "JavaScript or TypeScript that Node runs as it is"
      )
  })
})
