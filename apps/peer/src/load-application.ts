/**
 * The applications that a peer is told to host beside the catalogue: one that is shipped, by its
 * name, or a module of the user's own, by its path.
 *
 *     counter | registers | ./path/to/module.ts
 */
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { counter, registers } from "@holdfast/applications"
import { catalogueName } from "@holdfast/catalogue"
import { type CommandFailure, failure } from "@holdfast/process"
import { applicationOf, hostApplication, type HostedApplication } from "@holdfast/service-peer"
import { Effect, Result } from "effect"

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message || error.name : String(error)).split("\n")[0] ?? ""

const loadModule = Effect.fnUntraced(function* (
  named: string
): Effect.fn.Return<HostedApplication, CommandFailure> {
  const path = resolve(named)
  if (!existsSync(path)) {
    return yield* failure(
      `there is no application "${named}"; right would be counter, registers, or the path of a module`
    )
  }
  const exports = yield* Effect.tryPromise({
    try: (): Promise<unknown> => import(pathToFileURL(path).href),
    catch: (error) =>
      failure(
        `${named} cannot be loaded as a module: ${firstLine(error)}; right would be a file of ` +
          "JavaScript or TypeScript that Node runs as it is"
      )
  })
  const application = applicationOf(exports, named)
  return Result.isSuccess(application)
    ? application.success
    : yield* failure(application.failure.message)
})

/** An application by its name or its path. */
const loadApplication = (named: string): Effect.Effect<HostedApplication, CommandFailure> => {
  switch (named) {
    case "counter":
      return Effect.succeed(hostApplication(counter))
    case "registers":
      return Effect.succeed(hostApplication(registers))
    default:
      return loadModule(named)
  }
}

/** All applications that are named; refused where two have one name. */
export const loadApplications = Effect.fnUntraced(function* (
  named: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<HostedApplication>, CommandFailure> {
  const loaded = yield* Effect.forEach(named, loadApplication)
  const names = [catalogueName, ...loaded.map(({ name }) => name)]
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  return twice === undefined
    ? loaded
    : yield* failure(`two applications are called ${twice}; each name stands for one of them`)
})
