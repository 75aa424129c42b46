/**
 * The flags of a table of settings. A flag only says what was typed; whether that is right is said
 * where flags, environment and file come together.
 */
import { Option } from "effect"
import { Flag } from "effect/cli"
import { nameInText, type Setting, type SettingTable } from "./setting.ts"

/** What was typed for one setting. */
export type Typed = Option.Option<string | number | boolean> | ReadonlyArray<string>

/** What was typed, by the names of a table. */
export type TypedSettings = Readonly<Record<string, Typed>>

/** A flag a setting, all optional. */
export const flagsOf = (table: SettingTable): Record<string, Flag.Flag<Typed>> =>
  Object.fromEntries(
    Object.entries(table).map(([name, setting]) => [name, flagOf(nameInText(name), setting)])
  )

/** The parts of a comma-separated list. */
export const splitList = (text: string): ReadonlyArray<string> =>
  text.split(",").map((part) => part.trim())

const flagOf = (name: string, setting: Setting<unknown>): Flag.Flag<Typed> => {
  const description = describe(setting)
  switch (setting.kind) {
    case "text":
      return Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)
    case "number":
      return Flag.Int(name).pipe(Flag.withDescription(description), Flag.optional)
    case "boolean":
      return Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.optional)
    case "list":
      return Flag.String(name).pipe(Flag.withDescription(description), Flag.atLeast(0))
  }
}

const describe = ({ description, fallback, isSecret, variables }: Setting<unknown>): string => {
  const standing = fallback === undefined || fallback === false ? "" : ` (${String(fallback)})`
  const variable = variables[0] === undefined ? "" : ` [${variables[0]}]`
  const secret = isSecret ? "; refused as a flag, which a process list would show" : ""
  return `${description}${secret}${standing}${variable}`
}

/** The value that was typed, or undefined where nothing was; a list may also have commas. */
export const typedValue = (typed: Typed): unknown => {
  if (!Option.isOption(typed)) {
    return typed.length === 0 ? undefined : typed.flatMap(splitList)
  }
  return Option.getOrUndefined(typed)
}
