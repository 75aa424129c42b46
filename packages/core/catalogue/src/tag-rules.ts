/** Which tags an archive draws from its records: the schema of the rules, and their short form. */
import { Data, Result, Schema } from "effect"

/** Rules of one archive at most. */
export const tagRulesMax = 16
/** The tag that every archive has: the whole subject. No rule may take its name. */
export const subjectTag = "subject"

/** What a tag's name looks like. */
export const tagNamePattern = /^[a-zA-Z][a-zA-Z0-9_-]{0,31}$/

const TagName = Schema.String.check(
  Schema.isPattern(tagNamePattern, {
    expected: "1 to 32 letters, digits, '-' or '_', the first a letter"
  }),
  Schema.makeFilter((name) => name !== subjectTag || `not "${subjectTag}", which always exists`)
)

/** Where a tag's value comes from. */
export const TagSource = Schema.TaggedUnion({
  /** A token of the subject, counted from 0. */
  Subject: { token: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })) },
  /** Every value of a header, its name as written. */
  Header: { name: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(255)) },
  /** A value inside a JSON payload: keys, and indexes of arrays as decimal digits. */
  Json: {
    path: Schema.Array(Schema.String).check(Schema.isMinLength(1), Schema.isMaxLength(16))
  }
})
/** Where a tag's value comes from. */
export type TagSource = typeof TagSource.Type

/** How values are compared: as text, or as numbers, by classes of a width where one is given. */
export const TagOrder = Schema.TaggedUnion({
  Text: {},
  Number: {
    /** Values in [n * width, (n + 1) * width) are one class. */
    width: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0)))
  }
})
/** How values are compared. */
export type TagOrder = typeof TagOrder.Type

/** One tag: its name, where its values come from, how they are ordered. */
export const TagRule = Schema.Struct({ name: TagName, source: TagSource, order: TagOrder })
/** One tag. */
export type TagRule = typeof TagRule.Type

/** The rules of an archive: distinct names. */
export const TagRules = Schema.Array(TagRule).check(
  Schema.isMaxLength(tagRulesMax),
  Schema.makeFilter((rules) => {
    const repeated = rules.find(({ name }, at) => rules.findIndex((one) => one.name === name) < at)
    return repeated === undefined || `tag names that differ; "${repeated.name}" stands twice`
  })
)

/** A rule that cannot be understood; the message says what would be right. */
export class TagRuleError extends Data.TaggedError("TagRuleError")<{
  readonly rule: string
  readonly message: string
}> {}

const forms =
  'Right would be "region=subject:1", "kind=header:Event-Kind", "mag=json:properties.mag,number:1".'

const sourceOf = (kind: string, rest: string): TagSource | undefined => {
  switch (kind) {
    case "subject":
      return /^\d{1,3}$/.test(rest) ? { _tag: "Subject", token: Number(rest) } : undefined
    case "header":
      return { _tag: "Header", name: rest }
    case "json":
      return { _tag: "Json", path: rest.replace(/\[(\d+)\]/g, ".$1").split(".") }
    default:
      return undefined
  }
}

const orderOf = (text: string | undefined): TagOrder | undefined => {
  if (text === undefined || text === "text") return { _tag: "Text" }
  if (text === "number") return { _tag: "Number" }
  const width = /^number:(.+)$/.exec(text)?.[1]
  return width === undefined ? undefined : { _tag: "Number", width: Number(width) }
}

const decodeRule = Schema.decodeUnknownResult(TagRule)

/**
 * Reads a rule as it is typed: `NAME=SOURCE:WHERE[,ORDER]`.
 *
 * SOURCE is `subject` (a token's number), `header` (its name) or `json` (`a.b[0]`); ORDER is
 * `text`, `number` or `number:WIDTH`.
 */
export const parseTagRule = (text: string): Result.Result<TagRule, TagRuleError> => {
  const fail = (message: string) =>
    Result.fail(new TagRuleError({ rule: text, message: `${message} ${forms}` }))
  const parts = /^([^=]*)=([a-z]+):([^,]+)(?:,(.+))?$/.exec(text)
  if (parts === null) return fail(`"${text}" is not a tag rule.`)
  const [, name, kind, where, ordering] = parts
  const source = sourceOf(kind ?? "", where ?? "")
  if (source === undefined) return fail(`"${kind}:${where}" does not say where a value is.`)
  const order = orderOf(ordering)
  if (order === undefined) return fail(`"${ordering}" is not an order of values.`)
  return Result.mapError(
    decodeRule({ name, source, order }),
    (error) => new TagRuleError({ rule: text, message: `${error.message}. ${forms}` })
  )
}
