/** Makes hostile JSON of sound JSON: other types, extremes, missing and unknown keys, depth. */
import type { Random } from "./random.ts"

const nested = (depth: number): unknown => {
  let value: unknown = 0
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

const extremes: ReadonlyArray<() => unknown> = [
  () => null,
  () => true,
  () => 0,
  () => -1,
  () => 1e308,
  () => Number.MAX_SAFE_INTEGER,
  () => 2 ** 53,
  () => 0.5,
  () => "",
  () => "\u0000",
  () => "9".repeat(400),
  () => "x".repeat(70_000),
  () => "__proto__",
  () => "../../../etc/passwd",
  () => "\ud800",
  () => [],
  () => ({}),
  () => nested(2_000),
  () => Array.from({ length: 20_000 }, () => 0),
  () => JSON.parse('{"__proto__":{"a":1},"constructor":1}')
]

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Changes one place of a value, near its root or deep in it. */
export const mutateJson = (value: unknown, random: Random): unknown => {
  const goDeeper = random.below(4) !== 0
  if (Array.isArray(value) && value.length > 0 && goDeeper) {
    const at = random.below(value.length)
    const items = value.map((item: unknown, index) =>
      index === at ? mutateJson(item, random) : item
    )
    return random.below(8) === 0 ? [...items, ...items] : items
  }
  if (isRecord(value) && Object.keys(value).length > 0 && goDeeper) {
    const key = random.pick(Object.keys(value))
    const { [key]: old, ...rest } = value
    switch (random.below(8)) {
      case 0:
        return rest
      case 1:
        return { ...value, [`${key}x`]: old }
      default:
        return { ...rest, [key]: mutateJson(old, random) }
    }
  }
  return random.pick(extremes)()
}
