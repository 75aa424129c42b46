/** What LMDB writes can always be walked; damage is refused before LMDB reads it. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { open } from "lmdb"
import { openEnvironment } from "./environment.ts"
import { damageOf } from "./lmdb-walk.ts"

const inFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "holdfast-walk-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const damageIn = (folder: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() => openSync(join(folder, "data.mdb"), "r")),
    damageOf,
    (file) => Effect.sync(() => closeSync(file))
  )

/** One write: a table, a key, and a value of so many bytes; none removes the key. */
const writes = fc.array(
  fc.record({
    table: fc.constantFrom("a", "b"),
    key: fc.integer({ min: 0, max: 400 }),
    keyBytes: fc.constantFrom(4, 40, 900),
    value: fc.option(fc.constantFrom(0, 30, 700, 3_000, 30_000), { freq: 4 })
  }),
  { maxLength: 400 }
)

type Writes = typeof writes extends fc.Arbitrary<infer A> ? A : never

const keyOf = ({ key, keyBytes }: Writes[number]) => {
  const bytes = Buffer.alloc(keyBytes, 7)
  bytes.writeUInt32BE(key)
  return bytes
}

/** Makes the writes in transactions of a few, as a store does. */
const writeAll = async (folder: string, all: Writes): Promise<void> => {
  const options = { encoding: "binary", keyEncoding: "binary" } as const
  const root = open<Buffer, Buffer>({
    path: folder,
    noSubdir: false,
    overlappingSync: false,
    ...options
  })
  const tables = {
    a: root.openDB({ name: "a", ...options }),
    b: root.openDB({ name: "b", ...options })
  }
  for (let at = 0; at < all.length; at += 7) {
    root.transactionSync(() => {
      for (const write of all.slice(at, at + 7)) {
        const table = write.table === "a" ? tables.a : tables.b
        if (write.value === null) table.removeSync(keyOf(write))
        else table.putSync(keyOf(write), Buffer.alloc(write.value, at))
      }
    })
  }
  await root.close()
}

const pageBytes = 4_096

/** The pages of a file that are of a kind, as their own heads say. */
const pagesOf = (folder: string, kind: number): ReadonlyArray<number> => {
  const bytes = readFileSync(join(folder, "data.mdb"))
  const pages = Array.from({ length: bytes.length / pageBytes }, (_, page) => page)
  return pages.filter((page) => (bytes.readUInt16LE(page * pageBytes + 18) & 0x6f) === kind)
}

const change = (folder: string, act: (bytes: Buffer) => Uint8Array | void): void => {
  const file = join(folder, "data.mdb")
  const bytes = readFileSync(file)
  writeFileSync(file, act(bytes) ?? bytes)
}

const many: Writes = Array.from({ length: 900 }, (_, key) => ({
  table: "a",
  key,
  keyBytes: 40,
  value: key % 50 === 0 ? 30_000 : 700
}))

const [branch, leaf, overflow] = [1, 2, 4]

const damages: ReadonlyArray<
  readonly [name: string, act: (bytes: Buffer, page: number) => Uint8Array | void, words: RegExp]
> = [
  [
    "is zeros",
    (bytes, page) => void bytes.fill(0, page, page + pageBytes),
    /not the page that belongs there/
  ],
  [
    "is another one",
    (bytes, page) => void bytes.copyWithin(page, page - pageBytes, page),
    /not the page that belongs there/
  ],
  [
    "is of another kind",
    (bytes, page) => void bytes.writeUInt16LE(0x20, page + 18),
    /not of the kind that is due/
  ],
  [
    "is of a transaction that never was",
    (bytes, page) => void bytes.writeBigUInt64LE(1n << 60n, page + 8),
    /of a transaction that never was/
  ],
  ["is cut off", (bytes, page) => bytes.subarray(0, page + 1), /no page of the file/]
]

describe("the walk of a data file", () => {
  it.live("finds nothing wrong with anything that LMDB wrote", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(writes, (all) =>
          Effect.runPromise(
            Effect.scoped(
              Effect.gen(function* () {
                const folder = yield* inFolder
                yield* Effect.promise(() => writeAll(folder, all))
                assert.isUndefined(yield* damageIn(folder))
                // Once more over what is there: pages are freed, and used again.
                yield* Effect.promise(() => writeAll(folder, all.toReversed()))
                assert.isUndefined(yield* damageIn(folder))
              })
            )
          )
        ),
        { numRuns: 60 }
      )
    )
  )

  for (const [kind, flag] of [
    ["branch", branch],
    ["leaf", leaf],
    ["value's", overflow]
  ] as const) {
    for (const [name, act, words] of damages) {
      it.effect(`finds a ${kind} page that ${name}`, () =>
        Effect.gen(function* () {
          const folder = yield* inFolder
          yield* Effect.promise(() => writeAll(folder, many))
          const before = join(folder, "before")
          copyFileSync(join(folder, "data.mdb"), before)
          const found: Array<string> = []
          // Some pages are free and may hold anything: each is damaged alone.
          for (const page of pagesOf(folder, flag ?? 0).slice(-6)) {
            copyFileSync(before, join(folder, "data.mdb"))
            change(folder, (bytes) => act(bytes, page * pageBytes))
            const damage = yield* damageIn(folder)
            if (damage !== undefined) found.push(damage)
          }
          assert.isTrue(
            found.some((damage) => words.test(damage)),
            found.join("\n")
          )
        })
      )
    }
  }

  it.effect("finds keys that are not in order, and a page that stands in two places", () =>
    Effect.gen(function* () {
      const folder = yield* inFolder
      yield* Effect.promise(() => writeAll(folder, many))
      const before = join(folder, "before")
      copyFileSync(join(folder, "data.mdb"), before)
      const written = readFileSync(before)
      const newest = (page: number) => written.readBigUInt64LE(page * pageBytes + 8)
      const root = pagesOf(folder, branch ?? 0).reduce((one, other) =>
        newest(other) > newest(one) ? other : one
      )
      const placeOf = (bytes: Buffer, index: number) =>
        root * pageBytes + 24 + bytes.readUInt16LE(root * pageBytes + 24 + 2 * index)
      change(folder, (bytes) => {
        const [one, other] = [placeOf(bytes, 1), placeOf(bytes, 2)]
        bytes.copyWithin(one, other, other + 6)
      })
      assert.match((yield* damageIn(folder)) ?? "", /two places|not in order/)
      copyFileSync(before, join(folder, "data.mdb"))
      change(folder, (bytes) => {
        bytes.writeUInt8(255, placeOf(bytes, 1) + 8)
      })
      assert.match((yield* damageIn(folder)) ?? "", /not in order/)
    })
  )
})

describe("a store whose data file is damaged", () => {
  it.effect("is refused with a sentence that names file, page and what to do", () =>
    Effect.gen(function* () {
      const directory = yield* inFolder
      const options = { directory, kind: "partitions", clusterId: "c" }
      const inUse = join(directory, "in-use")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { commit, table } = yield* openEnvironment(options)
          assert.isTrue(existsSync(inUse))
          const values = table("values")
          yield* commit({
            bytes: 0,
            freesRoom: false,
            run: () => values.putSync(Buffer.from("key"), Buffer.alloc(100))
          })
        })
      )
      assert.isFalse(existsSync(inUse))
      yield* Effect.scoped(openEnvironment(options))
      change(directory, (bytes) => bytes.fill(0, 2 * pageBytes))
      const refused = yield* Effect.flip(Effect.scoped(openEnvironment(options)))
      assert.strictEqual(refused.code, "corrupt")
      assert.match(refused.message, /data\.mdb is damaged, page \d+: .*\. Move .* away and start/)
      assert.isFalse(existsSync(inUse), "nothing was opened")
    })
  )
})
