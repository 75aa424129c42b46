/**
 * A setting of a process: one entry of a table from which its flag, its environment variables, its
 * key in a configuration file, its check and its line in `--check` are all made.
 *
 *     flag  >  environment  >  file  >  NATS context (NATS settings alone)  >  default
 *
 * The names of the table are in camel case; flag and key in a file are the same name in kebab case.
 */
import { Schema } from "effect"

/** How a value looks in text: on the command line and in the environment. */
export type SettingKind = "text" | "number" | "boolean" | "list"

/** What a value of JSON must be like, and what it becomes. */
export type SettingSchema<A> = Schema.Codec<A, unknown>

/** One setting whose checked value is an `A`. */
export interface Setting<A> {
  readonly kind: SettingKind
  readonly schema: SettingSchema<A>
  readonly description: string
  /** Environment variables, the first that is set counts. */
  readonly variables: ReadonlyArray<string>
  /** The JSON value where nothing else is said; absent for one that may stay unset. */
  readonly fallback?: string | number | boolean
  /** Whether a process without it is refused. */
  readonly isRequired: boolean
  /** A secret is never shown, and never taken from a flag, which a process list would show. */
  readonly isSecret: boolean
}

/** The settings of a process by their names in camel case. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>

/** The checked values of a table. */
export type SettingValues<Table extends SettingTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer A> ? A : never
}

/** What a setting says of itself beside its schema. */
interface Declaration {
  readonly description: string
  readonly variables?: ReadonlyArray<string>
  readonly isSecret?: boolean
}

const declare = (kind: SettingKind, declaration: Declaration) => ({
  kind,
  description: declaration.description,
  variables: declaration.variables ?? [],
  isSecret: declaration.isSecret ?? false
})

/** A text without which the process is refused. */
export const requiredText = <A>(
  schema: Schema.Codec<A, string>,
  declaration: Declaration
): Setting<A> => ({ ...declare("text", declaration), schema: textOf(schema), isRequired: true })

/** A text that may stay unset. */
export const optionalText = <A>(
  schema: Schema.Codec<A, string>,
  declaration: Declaration
): Setting<A | undefined> => ({
  ...declare("text", declaration),
  schema: textOf(schema),
  isRequired: false
})

/** A text with a default. */
export const textSetting = <A>(
  schema: Schema.Codec<A, string>,
  declaration: Declaration & { readonly value: string }
): Setting<A> => ({
  ...declare("text", declaration),
  schema: textOf(schema),
  fallback: declaration.value,
  isRequired: false
})

/** A whole number within bounds, with a default. */
export const numberSetting = (
  declaration: Declaration & {
    readonly value: number
    readonly least: number
    readonly most: number
  }
): Setting<number> => {
  const { least, most } = declaration
  const expected = `a whole number from ${least} to ${most}`
  const isWithin = (value: number): boolean =>
    Number.isInteger(value) && value >= least && value <= most
  return {
    ...declare("number", declaration),
    schema: jsonOf(
      Schema.Number.annotate({ message: expected }).check(
        Schema.makeFilter((value: number) => isWithin(value) || expected)
      )
    ),
    fallback: declaration.value,
    isRequired: false
  }
}

/** The longest time that a setting takes, in milliseconds: a week. */
const timeMax = 7 * 24 * 3_600_000

/** A time in milliseconds, with a default. */
export const timeSetting = (
  declaration: Declaration & { readonly value: number; readonly least?: number }
): Setting<number> => numberSetting({ least: 0, ...declaration, most: timeMax })

/** Yes or no; no unless it is said. */
export const booleanSetting = (declaration: Declaration): Setting<boolean> => ({
  ...declare("boolean", declaration),
  schema: jsonOf(Schema.Boolean.annotate({ message: "true or false" })),
  fallback: false,
  isRequired: false
})

/** At least one text; a flag that is repeated, a comma-separated variable, an array in a file. */
export const requiredList = <A>(
  schema: Schema.Codec<A, string>,
  declaration: Declaration
): Setting<ReadonlyArray<A>> => ({
  ...declare("list", declaration),
  schema: listOf(schema),
  isRequired: true
})

/** As `requiredList`, but it may stay unset. */
export const optionalList = <A>(
  schema: Schema.Codec<A, string>,
  declaration: Declaration
): Setting<ReadonlyArray<A> | undefined> => ({
  ...declare("list", declaration),
  schema: listOf(schema),
  isRequired: false
})

const listOf = <A>(schema: Schema.Codec<A, string>): SettingSchema<ReadonlyArray<A>> =>
  Schema.Array(schema).check(Schema.isMinLength(1), Schema.isMaxLength(256))

const jsonOf = <A>(schema: Schema.Codec<A, unknown>): SettingSchema<A> => schema

const textOf = <A>(schema: Schema.Codec<A, string>): SettingSchema<A> =>
  schema.annotate({ messageMissingKey: "a text" })

/** A text of at most so many characters; a longer one is a mistake. */
const textLengthMax = 4_096

/** Any text but an empty one. */
export const PlainText = Schema.String.annotate({ message: "a text" }).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(textLengthMax)
)

/** The name of a setting as a flag and as a key in a file: `listenPort` is `listen-port`. */
export const nameInText = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
