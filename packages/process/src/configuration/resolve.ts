/**
 * Brings flags, environment, file and defaults together.
 *
 * 1. Each setting has one value and one origin; the first source that says something counts.
 * 2. Everything that is wrong is said at once, each with where it was said.
 * 3. No message quotes the value of a secret.
 */
import { Effect, Result, Schema, SchemaIssue } from "effect"
import { type CommandFailure, failure } from "../command-failure.ts"
import { readConfigurationFile } from "./configuration-file.ts"
import { readNatsContext } from "../nats/nats-context.ts"
import { waysToBeKnown } from "../nats/nats-settings.ts"
import type { Environment, SaidValue } from "./said-value.ts"
import { nameInText, type Setting, type SettingTable, type SettingValues } from "./setting.ts"
import { splitList, type Typed, typedValue, type TypedSettings } from "./setting-flags.ts"

/** The settings of a process with where each value came from. */
export interface Resolved<Table extends SettingTable> {
  readonly values: SettingValues<Table>
  /** In the order of the table; a setting that nobody set has no value. */
  readonly origins: ReadonlyArray<SaidValue & { readonly name: string; readonly isSecret: boolean }>
}

/** Resolves a table; fails with everything that is wrong. */
export const resolveSettings = <Table extends SettingTable>(options: {
  readonly table: Table
  readonly typed: TypedSettings
  readonly environment: Environment
  readonly file?: string | undefined
}): Effect.Effect<Resolved<Table>, CommandFailure> =>
  Effect.suspend(() => {
    const { environment, file, table, typed } = options
    const fromFile = file === undefined ? Result.succeed({}) : readConfigurationFile(file, table)
    if (Result.isFailure(fromFile)) return Effect.fail(failure(fromFile.failure.join("; ")))
    const inFile: Readonly<Record<string, unknown>> = fromFile.success
    const said = new Map<string, SaidValue>()
    const problems: Array<string> = []
    for (const [name, setting] of Object.entries(table)) {
      const found = firstSaid({ name, setting, typed: typed[name], environment, file, inFile })
      if (Result.isFailure(found)) problems.push(found.failure)
      else if (found.success !== undefined) said.set(name, found.success)
    }
    const context = said.get("context")?.value
    if (typeof context === "string") {
      const inContext = readNatsContext(context, environment)
      if (Result.isFailure(inContext)) problems.push(inContext.failure)
      else addContext(said, inContext.success)
    }
    return checked(table, said, problems)
  })

/** A context names one way to be known; it is not mixed with one that was chosen nearer by. */
const addContext = (
  said: Map<string, SaidValue>,
  inContext: Readonly<Record<string, SaidValue>>
): void => {
  const isKnown = waysToBeKnown.some((name) => said.has(name))
  for (const [name, value] of Object.entries(inContext)) {
    const isWay = waysToBeKnown.some((way) => way === name)
    if (!said.has(name) && !(isWay && isKnown)) said.set(name, value)
  }
}

const checked = <Table extends SettingTable>(
  table: Table,
  said: ReadonlyMap<string, SaidValue>,
  problems: Array<string>
): Effect.Effect<Resolved<Table>, CommandFailure> => {
  const values: Record<string, unknown> = {}
  const origins = Object.entries(table).map(([name, setting]) => {
    const one = said.get(name) ?? { value: setting.fallback, origin: "default" }
    const value = valueOf(name, setting, one)
    if (Result.isFailure(value)) problems.push(value.failure)
    else values[name] = value.success
    return { ...one, name: nameInText(name), isSecret: setting.isSecret }
  })
  return problems.length > 0
    ? Effect.fail(failure(problems.join("; ")))
    : Effect.succeed({ values: values as SettingValues<Table>, origins })
}

interface Sources {
  readonly name: string
  readonly setting: Setting<unknown>
  readonly typed: Typed | undefined
  readonly environment: Environment
  readonly file: string | undefined
  readonly inFile: Readonly<Record<string, unknown>>
}

const firstSaid = (sources: Sources): Result.Result<SaidValue | undefined, string> => {
  const { environment, file, inFile, name, setting, typed } = sources
  const flag = typed === undefined ? undefined : typedValue(typed)
  if (flag !== undefined) {
    const origin = `flag --${nameInText(name)}`
    return setting.isSecret ? Result.fail(secretAdvice(name, setting)) : said(flag, origin)
  }
  const variable = setting.variables.find((one) => (environment[one] ?? "") !== "")
  if (variable !== undefined) {
    return said(parseText(setting, environment[variable] ?? ""), `environment ${variable}`)
  }
  return name in inFile ? said(inFile[name], `file ${file ?? ""}`) : Result.succeed(undefined)
}

const said = (value: unknown, origin: string): Result.Result<SaidValue> =>
  Result.succeed({ value, origin })

const secretAdvice = (name: string, { variables }: Setting<unknown>): string =>
  `a secret after --${nameInText(name)} shows in every list of processes: put it into ` +
  `${variables[0] ?? "the configuration file"} or a file named by --${nameInText(name)}-file`

/** The JSON value of a text of the environment; what cannot be one stays text and is refused. */
const parseText = (setting: Setting<unknown>, text: string): unknown => {
  switch (setting.kind) {
    case "text":
      return text
    case "number":
      return /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : text
    case "boolean":
      return text === "true" || text === "1"
        ? true
        : text === "false" || text === "0"
          ? false
          : text
    case "list":
      return splitList(text)
  }
}

const valueOf = (
  name: string,
  setting: Setting<unknown>,
  { origin, value }: SaidValue
): Result.Result<unknown, string> => {
  if (value === undefined) {
    return setting.isRequired ? Result.fail(missing(name, setting)) : Result.succeed(undefined)
  }
  const decoded = Schema.decodeUnknownResult(setting.schema)(value)
  if (Result.isSuccess(decoded)) return Result.succeed(decoded.success)
  const reason = setting.isSecret ? "is not of its form" : explain(decoded.failure.issue)
  return Result.fail(`${nameInText(name)} (${origin}): ${reason}`)
}

const missing = (name: string, { variables }: Setting<unknown>): string => {
  const variable = variables[0] === undefined ? "" : `, ${variables[0]}`
  return `${nameInText(name)} is missing: say it by --${nameInText(name)}${variable} or in a file`
}

const formatIssue = SchemaIssue.makeFormatterDefault()

const explain = (issue: SchemaIssue.Issue): string =>
  formatIssue(issue)
    .split("\n")
    .map((line) => line.trim())
    .join(" ")
