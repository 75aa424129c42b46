/**
 * An application as a module: what a file exports by default so that a peer can load it by its
 * path.
 *
 *     export default defineApplication({
 *       name, version, Event, Output, State, initial, apply, index
 *     })
 *
 * 1. The name, the version and the schemas are checked when the module is made, the initial state
 *    against its own schema and the tags of it against the index's limit.
 * 2. Whatever is wrong with a module is one sentence that says what would be right.
 */
import type { Application } from "@holdfast/power-state"
import { PeerOperations } from "@holdfast/wire"
import { Predicate, Result, Schema } from "effect"
import { isCluster } from "./cluster-partition.ts"
import { hostApplication } from "./host-application.ts"
import type { HostedApplication } from "./replica.ts"

/** `ill-formed`: the file exports no application. `invalid`: it is one that no peer can host. */
export class ApplicationModuleError extends Schema.TaggedError<ApplicationModuleError>()(
  "ApplicationModuleError",
  { code: Schema.Literals(["ill-formed", "invalid"]), message: Schema.String }
) {}

/** The same text in every copy of this package that a program may have loaded. */
const mark = "@holdfast/service-peer/ApplicationModule/1"

/** An application that can be loaded; its types stay inside. */
export interface ApplicationModule {
  readonly mark: typeof mark
  readonly name: unknown
  /** Checks the application and prepares it for a peer. */
  readonly host: () => Result.Result<HostedApplication, ApplicationModuleError>
}

const tagBytesMax = 512
const isName = Schema.is(PeerOperations.ApplicationName)

const invalid = (message: string): Result.Result<never, ApplicationModuleError> =>
  Result.fail(new ApplicationModuleError({ code: "invalid", message }))

const nameRefusal = (name: unknown): string | null => {
  if (!isName(name)) {
    return `${JSON.stringify(name)} is no name of an application; right would be 1 to 32 lower-case letters, digits or "-"`
  }
  return isCluster(name) ? "no application may be called cluster; name it otherwise" : null
}

const textOf = (error: unknown): string => String(error).replaceAll(/\s*\n\s*/g, " ")

/** What an application does with its own initial state; null when all is well. */
const trialRefusal = <E, O, S>(application: Application<E, O, S>): string | null => {
  const { index, initial, State, version } = application
  if (!Number.isSafeInteger(version) || version < 1) {
    return `its version is ${version}; right would be a whole number from 1, raised with each change`
  }
  const codec = Schema.toCodecJson(State)
  const encoded = Result.try({
    try: () => Schema.decodeUnknownSync(codec)(Schema.encodeSync(codec)(initial)),
    catch: textOf
  })
  if (Result.isFailure(encoded)) return `its initial state is not of its State: ${encoded.failure}`
  const tags = Result.try({ try: () => index(initial), catch: textOf })
  if (Result.isFailure(tags)) return `its index throws for the initial state: ${tags.failure}`
  return tags.success.every((tag) => tag instanceof Uint8Array && tag.length <= tagBytesMax)
    ? null
    : `its index gives what is no tag; right would be arrays of at most ${tagBytesMax} bytes`
}

/** Makes a module of an application: a file's default export. */
export const defineApplication = <E, O, S>(
  application: Application<E, O, S>
): ApplicationModule => ({
  mark,
  name: application.name,
  host: () => {
    const refusal = nameRefusal(application.name) ?? trialRefusal(application)
    if (refusal !== null) return invalid(refusal)
    return Result.mapError(
      Result.try({ try: () => hostApplication(application), catch: textOf }),
      (why) =>
        new ApplicationModuleError({
          code: "invalid",
          message: `the application "${application.name}" cannot be hosted: ${why}`
        })
    )
  }
})

const isModule = (value: unknown): value is ApplicationModule =>
  Predicate.hasProperty(value, "mark") && value.mark === mark

/** The application among the exports of a file. */
export const applicationOf = (
  exports: unknown,
  path: string
): Result.Result<HostedApplication, ApplicationModuleError> => {
  const found = Predicate.hasProperty(exports, "default") ? exports.default : undefined
  if (isModule(found)) {
    return Result.mapError(
      found.host(),
      ({ code, message }) => new ApplicationModuleError({ code, message: `${path}: ${message}` })
    )
  }
  const instead =
    found === undefined
      ? "it has no default export"
      : "its default export is something else, or of another version"
  return Result.fail(
    new ApplicationModuleError({
      code: "ill-formed",
      message:
        `${path} exports no application (${instead}); right would be \`export default ` +
        "defineApplication({ name, version, Event, Output, State, initial, apply, index })` " +
        "of @holdfast/service-peer"
    })
  )
}
