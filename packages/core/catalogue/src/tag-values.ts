/**
 * Tag values: drawing them from records, and the canonical bytes they are compared by.
 *
 * A text is its own bytes up to 127 of them; a longer one is its first 96 and a SHA-256 of the
 * whole, 128 bytes, so that equal values stay equal and different ones different. A number is 8
 * bytes in numeric order. Values are data: whatever a record holds, drawing never fails.
 */
import { Data, Result } from "effect"
import { orderedNumber, joinBytes } from "./ordered-bytes.ts"
import type { CataloguePlatform, Sha256, TextCodec } from "./platform.ts"
import { subjectTag, type TagOrder, type TagRule } from "./tag-rules.ts"

/** Canonical bytes of a value at most. */
export const canonicalBytesMax = 128
const keptOfLongText = canonicalBytesMax - 32
/** Values that one rule draws from one record at most. */
export const valuesPerRuleMax = 16

/** What tags are drawn from. */
export interface TaggedRecord {
  readonly subject: Uint8Array
  readonly headers: ReadonlyArray<readonly [name: Uint8Array, value: Uint8Array]>
  readonly data: Uint8Array
}

/** One value of one tag, in canonical bytes. */
export interface DrawnTag {
  readonly name: string
  readonly value: Uint8Array
}

/** A value that was asked for is not of the tag's order. */
export class TagValueError extends Data.TaggedError("TagValueError")<{
  readonly name: string
  readonly message: string
}> {}

/** The canonical bytes of a text. */
export const canonicalText = (bytes: Uint8Array, sha256: Sha256): Uint8Array =>
  bytes.length < canonicalBytesMax
    ? bytes
    : joinBytes([bytes.subarray(0, keptOfLongText), sha256(bytes)])

const canonicalNumber = (value: number, width: number | undefined): Uint8Array =>
  orderedNumber(width === undefined ? value : Math.floor(value / width))

const canonicalScalar = (
  value: unknown,
  order: TagOrder,
  platform: CataloguePlatform
): Uint8Array | undefined => {
  switch (order._tag) {
    case "Text":
      return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
        ? canonicalText(platform.encodeText(String(value)), platform.sha256)
        : undefined
    case "Number":
      return typeof value === "number" ? canonicalNumber(value, order.width) : undefined
  }
}

const numberOfText = (text: string): number | undefined => {
  const trimmed = text.trim()
  if (trimmed === "") return undefined
  const value = Number(trimmed)
  return Number.isFinite(value) ? value : undefined
}

const canonicalBytes = (
  bytes: Uint8Array,
  order: TagOrder,
  platform: CataloguePlatform
): Uint8Array | undefined => {
  switch (order._tag) {
    case "Text":
      return canonicalText(bytes, platform.sha256)
    case "Number": {
      const value = bytes.length > 64 ? undefined : numberOfText(platform.decodeText(bytes))
      return value === undefined ? undefined : canonicalNumber(value, order.width)
    }
  }
}

/** The canonical bytes of a value that a person typed, or what would be right. */
export const canonicalQuery = (
  query: { readonly name: string; readonly value: string; readonly order: TagOrder },
  platform: CataloguePlatform
): Result.Result<Uint8Array, TagValueError> => {
  const bytes = canonicalBytes(platform.encodeText(query.value), query.order, platform)
  if (bytes !== undefined) return Result.succeed(bytes)
  const message = `The tag "${query.name}" holds numbers; "${query.value}" is not one.`
  return Result.fail(new TagValueError({ name: query.name, message }))
}

/** The bytes of a token of a subject, undefined when it has fewer. */
const subjectToken = (subject: Uint8Array, token: number): Uint8Array | undefined => {
  let start = 0
  for (let passed = 0; passed < token; passed++) {
    const dot = subject.indexOf(0x2e, start)
    if (dot < 0) return undefined
    start = dot + 1
  }
  const end = subject.indexOf(0x2e, start)
  return subject.subarray(start, end < 0 ? subject.length : end)
}

/** The value at a path of a parsed document; own keys only. */
const valueAt = (document: unknown, path: ReadonlyArray<string>): unknown => {
  let value = document
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined
    value = Reflect.get(value, step)
  }
  return value
}

const parseJson = (data: Uint8Array, text: TextCodec): unknown => {
  const first = data.find((byte) => byte > 0x20)
  const mayBeDocument = first === 0x7b || first === 0x5b
  if (!mayBeDocument) return undefined
  try {
    return JSON.parse(text.decodeText(data))
  } catch {
    // A payload that is not JSON has no value at any path: that is an answer, not a failure.
    return undefined
  }
}

const isSame = (left: Uint8Array, right: Uint8Array): boolean =>
  left.length === right.length && left.every((byte, index) => byte === right[index])

type Draw = (record: TaggedRecord, document: () => unknown) => ReadonlyArray<Uint8Array>

const drawOf = (rule: TagRule, platform: CataloguePlatform): Draw => {
  const { order, source } = rule
  const defined = (value: Uint8Array | undefined) => (value === undefined ? [] : [value])
  switch (source._tag) {
    case "Subject":
      return ({ subject }) => {
        const token = subjectToken(subject, source.token)
        return token === undefined ? [] : defined(canonicalBytes(token, order, platform))
      }
    case "Header": {
      const name = platform.encodeText(source.name)
      return ({ headers }) =>
        headers
          .filter(([candidate]) => isSame(candidate, name))
          .slice(0, valuesPerRuleMax)
          .flatMap(([, value]) => defined(canonicalBytes(value, order, platform)))
    }
    case "Json":
      return (_, document) => {
        const value = valueAt(document(), source.path)
        return Array.isArray(value)
          ? value
              .slice(0, valuesPerRuleMax)
              .flatMap((one) => defined(canonicalScalar(one, order, platform)))
          : defined(canonicalScalar(value, order, platform))
      }
  }
}

/** The names that `makeTagDrawer` of these rules may draw. */
export const drawnNames = (rules: ReadonlyArray<TagRule>): ReadonlyArray<string> => [
  subjectTag,
  ...rules.map(({ name }) => name)
]

/**
 * Prepares the drawing of all tags of a record: the subject's, and those of the rules.
 *
 * A payload is parsed once at most, and only when a rule looks into it. O(record) each.
 */
export const makeTagDrawer = (
  rules: ReadonlyArray<TagRule>,
  platform: CataloguePlatform
): ((record: TaggedRecord) => ReadonlyArray<DrawnTag>) => {
  const draws = rules.map((rule) => ({ name: rule.name, draw: drawOf(rule, platform) }))
  return (record) => {
    const tags: Array<DrawnTag> = [
      { name: subjectTag, value: canonicalText(record.subject, platform.sha256) }
    ]
    let parsed: { readonly document: unknown } | undefined
    const document = (): unknown => {
      parsed ??= { document: parseJson(record.data, platform) }
      return parsed.document
    }
    for (const { draw, name } of draws) {
      for (const value of draw(record, document)) tags.push({ name, value })
    }
    return tags
  }
}

/** Whether a record has a value of a tag: the filter behind a search. */
export const makeTagFilter = (
  wanted: { readonly name: string; readonly value: Uint8Array },
  rules: ReadonlyArray<TagRule>,
  platform: CataloguePlatform
): ((record: TaggedRecord) => boolean) => {
  const rule = rules.find(({ name }) => name === wanted.name)
  if (wanted.name === subjectTag) {
    return ({ subject }) => isSame(canonicalText(subject, platform.sha256), wanted.value)
  }
  if (rule === undefined) return () => false
  const draw = drawOf(rule, platform)
  return (record) =>
    draw(record, () => parseJson(record.data, platform)).some((value) =>
      isSame(value, wanted.value)
    )
}
