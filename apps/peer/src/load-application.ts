/**
 * The applications that a peer is told to host beside the catalogue: one that is shipped, by its
 * name, or a module of the user's own, by its path.
 *
 *     counter | registers | ./path/to/module.ts
 */
import { counter, registers } from "@holdfast/applications"
import { catalogueName } from "@holdfast/catalogue"
import { type CommandFailure, failure, importModuleFile } from "@holdfast/process"
import { applicationOf, hostApplication, type HostedApplication } from "@holdfast/service-peer"
import { Effect, Result } from "effect"

const loadModule = Effect.fnUntraced(function* (
  named: string
): Effect.fn.Return<HostedApplication, CommandFailure> {
  const exports = yield* importModuleFile({
    named,
    kind: "application",
    shipped: ["counter", "registers"]
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
