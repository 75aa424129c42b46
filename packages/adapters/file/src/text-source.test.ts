import { assert, describe, it } from "@effect/vitest"
import { RecordSource } from "@holdfast/records"
import type { ShardReader } from "@holdfast/records"
import { Context, Effect, Layer, Option } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { temporaryDirectory } from "./testing/harm.ts"
import { textSource } from "./index.ts"
import type { TextFormat, TextSourceOptions } from "./index.ts"

const bounds = { maxRecords: 1_000, maxBytes: 1_000_000, wait: "2 seconds" } as const
const ndjson: TextFormat = { _tag: "Ndjson" }

const fileOf = (name: string, text: string) =>
  Effect.map(temporaryDirectory("text"), (directory) => {
    const path = join(directory, name)
    writeFileSync(path, text)
    return path
  })

const sourceOf = (options: TextSourceOptions) =>
  Effect.map(Layer.build(textSource(options)), (context) => Context.get(context, RecordSource))

const openFile = Effect.fnUntraced(function* (
  path: string,
  format: TextFormat,
  after: Option.Option<bigint> = Option.none()
) {
  const source = yield* sourceOf({ inputs: [{ from: path, shard: "s" }], format })
  return yield* source.open({ shard: "s", after })
})

const readToEnd = Effect.fnUntraced(function* (reader: ShardReader) {
  const records: Array<string> = []
  for (;;) {
    const batch = yield* reader.next(bounds)
    records.push(
      ...batch.records.map((each) => `${each.position} ${Buffer.from(each.data).toString()}`)
    )
    if (batch.endOfShard) return { records, newest: Option.getOrUndefined(batch.newest) }
  }
})

describe("textSource", () => {
  it.live("reads the records of a file and says that it ended, again and again", () =>
    Effect.gen(function* () {
      const path = yield* fileOf("orders.ndjson", '{"a":1}\n\n{"a":2}\n')
      const reader = yield* openFile(path, ndjson)
      const all = yield* readToEnd(reader)
      assert.deepStrictEqual(all, { records: ['1 {"a":1}', '3 {"a":2}'], newest: 3n })
      assert.deepStrictEqual(yield* readToEnd(reader), { records: [], newest: 3n })
    })
  )

  it.live("broken NDJSON in line 3 is told after the records before it, with file and line", () =>
    Effect.gen(function* () {
      const path = yield* fileOf("orders.ndjson", '{"a":1}\n{"a":2}\n{"a":}\n{"a":4}\n')
      const reader = yield* openFile(path, ndjson)
      const { endOfShard, records } = yield* reader.next(bounds)
      assert.deepStrictEqual([records.length, endOfShard], [2, false])
      for (const _ of [1, 2]) {
        const error = yield* Effect.flip(reader.next(bounds))
        assert.strictEqual(error.code, "malformed")
        assert.include(error.message, `${path}, line 3: `)
        assert.include(error.message, "each line must be exactly one JSON value")
      }
    })
  )

  it.live("goes on after a position", () =>
    Effect.gen(function* () {
      const features = Array.from({ length: 5 }, (_, id) => ({ type: "Feature", id }))
      const text = JSON.stringify({ type: "FeatureCollection", features }, undefined, 2)
      const path = yield* fileOf("places.geojson", text)
      const format: TextFormat = { _tag: "JsonArray", path: ["features"] }
      const reader = yield* openFile(path, format, Option.some(3n))
      const { records } = yield* readToEnd(reader)
      assert.deepStrictEqual(
        records.map((record) => record.replaceAll(/\s/g, "")),
        ['4{"type":"Feature","id":3}', '5{"type":"Feature","id":4}']
      )
    })
  )

  it.live("keeps to the bounds of a batch and skips nothing", () =>
    Effect.gen(function* () {
      const count = 2_000
      const text = Array.from({ length: count }, (_, index) => `line ${index}`).join("\n")
      const reader = yield* openFile(yield* fileOf("lines.txt", text), { _tag: "Lines" })
      const positions: Array<bigint> = []
      for (let round = 0; positions.length < count; round++) {
        const bound = round % 2 === 0 ? { maxRecords: 7 } : { maxBytes: 100 }
        const batch = yield* reader.next({ ...bounds, ...bound })
        assert.isAtMost(batch.records.length, round % 2 === 0 ? 7 : 16)
        assert.isAtLeast(batch.records.length, 1)
        positions.push(...batch.records.map(({ position }) => position))
      }
      assert.deepStrictEqual(
        positions,
        Array.from({ length: count }, (_, index) => BigInt(index + 1))
      )
    })
  )

  it.live("waits for standard input no longer than it may, and loses nothing by it", () =>
    Effect.gen(function* () {
      const input = new PassThrough()
      const source = yield* sourceOf({ inputs: [{ from: input }], format: ndjson })
      assert.deepStrictEqual(yield* source.shards, [
        { shard: "standard-input", stream: "standard-input" }
      ])
      const reader = yield* source.open({ shard: "standard-input", after: Option.none() })
      const nothing = yield* reader.next({ ...bounds, wait: "20 millis" })
      assert.deepStrictEqual([nothing.records, nothing.endOfShard], [[], false])
      input.write('{"a":1}\n{"a"')
      const first = yield* reader.next(bounds)
      assert.strictEqual(first.records.length, 1)
      input.end(":2}")
      const rest = yield* readToEnd(reader)
      assert.deepStrictEqual(rest.records, ['2 {"a":2}'])
    })
  )

  it.live("tells a failure of standard input that came while nobody waited", () =>
    Effect.gen(function* () {
      const input = new PassThrough()
      const source = yield* sourceOf({ inputs: [{ from: input, shard: "s" }], format: ndjson })
      const reader = yield* source.open({ shard: "s", after: Option.none() })
      yield* reader.next({ ...bounds, wait: "10 millis" })
      input.destroy(new Error("the pipe broke"))
      yield* Effect.sleep("20 millis")
      for (const _ of [1, 2]) {
        const error = yield* Effect.flip(reader.next(bounds))
        assert.deepStrictEqual(
          [error.code, error.message],
          ["unavailable", "standard input: the pipe broke"]
        )
      }
    })
  )

  it.live("says what is wrong with a file that cannot be read", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory("text")
      mkdirSync(join(directory, "folder"))
      const missing = yield* Effect.flip(openFile(join(directory, "none"), ndjson))
      assert.strictEqual(missing.code, "not-found")
      const folder = yield* openFile(join(directory, "folder"), ndjson).pipe(
        Effect.flatMap((reader) => reader.next(bounds)),
        Effect.flip
      )
      assert.strictEqual(folder.code, "unsupported")
      const source = yield* sourceOf({ inputs: [], format: ndjson })
      const unknown = yield* Effect.flip(source.open({ shard: "x", after: Option.none() }))
      assert.strictEqual(unknown.code, "not-found")
    })
  )

  it.live("refuses two inputs of one name", () =>
    Effect.gen(function* () {
      const inputs = [{ from: "/a/x.ndjson" }, { from: "/b/x.ndjson" }]
      const source = yield* sourceOf({ inputs, format: ndjson })
      const error = yield* Effect.flip(source.shards)
      assert.deepStrictEqual(
        [error.code, error.message.includes("x.ndjson")],
        ["unsupported", true]
      )
    })
  )

  it.live("holds a chunk and a record of a large file, not the file", () =>
    Effect.gen(function* () {
      const element = JSON.stringify({ text: "x".repeat(1_000) })
      const text = `[${Array.from({ length: 20_000 }, () => element).join(",")}]`
      const reader = yield* openFile(yield* fileOf("large.json", text), {
        _tag: "JsonArray",
        path: []
      })
      let count = 0
      let mostAtOnce = 0
      for (;;) {
        const batch = yield* reader.next({ ...bounds, maxRecords: 1_000_000 })
        count += batch.records.length
        mostAtOnce = Math.max(mostAtOnce, batch.records.length)
        if (batch.endOfShard) break
      }
      assert.strictEqual(count, 20_000)
      assert.isAtMost(mostAtOnce, 300)
    })
  )
})
