import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Stream } from "effect"
import type { Disk, DiskFile } from "./chunk-device-disk.ts"
import {
  checkAll,
  journalDirectory,
  type JournalLife,
  livedMoments,
  openOn
} from "./testing/log-crash.ts"
import { powerCutDisk } from "./testing/power-cut-disk.ts"
import { type DiskImage, filesOf, settle, withEditedFiles } from "./testing/power-cut-image.ts"

type Act = (life: JournalLife) => Effect.Effect<void, unknown>

const long = (letter: string) => letter.repeat(1_300)
const inTurn =
  (...acts: ReadonlyArray<Act>): Act =>
  (life) =>
    Effect.forEach(acts, (act) => act(life), { discard: true })
const atOnce =
  (...acts: ReadonlyArray<Act>): Act =>
  (life) =>
    Effect.forEach(acts, (act) => act(life), { discard: true, concurrency: "unbounded" })
const append =
  (...texts: ReadonlyArray<string>): Act =>
  (life) =>
    life.append(...texts)
const compact: Act = (life) => life.compact

const lives: ReadonlyArray<readonly [title: string, life: { before?: Act; act: Act }]> = [
  ["the first opening", { act: () => Effect.void }],
  ["an append within a sector", { before: append("a"), act: append("b", "c") }],
  ["an append of several sectors", { before: append("a"), act: append(long("b"), long("c")) }],
  ["one append after another", { act: inTurn(append(long("a")), append("b"), append(long("c"))) }],
  ["appends at once", { act: atOnce(append("a"), append(long("b")), append("c", "d")) }],
  ["a snapshot", { before: inTurn(append("a", "b"), append(long("c"))), act: compact }],
  ["a second snapshot", { before: inTurn(append("a"), compact, append("b")), act: compact }],
  ["a snapshot, then an append", { before: append("a"), act: inTurn(compact, append(long("b"))) }],
  ["appends during a snapshot", { before: append("a"), act: atOnce(compact, append("b")) }]
]

/** A journal whose newest batch has lost its third sector. */
const tornImage = async (): Promise<DiskImage> => {
  const moments = await livedMoments({ before: append("a"), act: append(long("b")) })
  const written = moments.find(({ call }) => call.startsWith("write"))
  if (written === undefined) throw new Error("nothing was written")
  const [file = 0] = [...written.image.files.keys()]
  return settle(written.image, [{ _tag: "Sector", file, sector: 2 }])
}

describe("metadata-T7: crash points of a journal", () => {
  for (const [title, life] of lives) {
    it(`${title}: what was answered is there, whole and in order`, async () => {
      assert.isAbove(await checkAll(await livedMoments(life)), 3)
    })
  }

  it("a torn tail is cut; the power may fail while it is", async () => {
    const start = { image: await tornImage(), answered: ["a"] }
    const moments = await livedMoments({ start, act: append("c") })
    assert.isTrue(moments.some(({ call }) => call.startsWith("cut")))
    assert.isAbove(await checkAll(moments), 10)
  })

  const without = (file: DiskFile, calls: Partial<DiskFile>): DiskFile => ({ ...file, ...calls })
  const skipping = (disk: Disk, calls: Partial<DiskFile>): Disk => ({
    ...disk,
    create: async (path) => without(await disk.create(path), calls),
    openToWrite: async (path) => without(await disk.openToWrite(path), calls)
  })
  const nothing = () => Promise.resolve()
  const mutants: ReadonlyArray<readonly [name: string, weaken: (disk: Disk) => Disk]> = [
    ["the sync of an append", (disk) => skipping(disk, { syncData: nothing })],
    ["the sync of a new file", (disk) => skipping(disk, { sync: nothing })],
    ["the sync of the directory", (disk) => ({ ...disk, syncDirectory: nothing })]
  ]
  for (const [name, weaken] of mutants) {
    it(`a journal that leaves out ${name} is found out`, async () => {
      const act = inTurn(append(long("a")), compact, append(long("b")))
      const found = await checkAll(await livedMoments({ act }, weaken)).catch(String)
      assert.isString(found)
    })
  }
})

describe("metadata-T8: a flipped bit", () => {
  it("anywhere in a log or a snapshot is corrupt, and the journal is not opened or not read", async () => {
    const act = inTurn(append("a"), compact, append("b"), append("c", "d"))
    const image = (await livedMoments({ act })).at(-1)?.image
    if (image === undefined) throw new Error("no image")
    const read = (found: DiskImage) =>
      Effect.gen(function* () {
        const journal = yield* openOn(powerCutDisk(found).disk, true)
        const { entries, snapshot } = yield* journal.recover
        return yield* Stream.runCount(Stream.concat(snapshot, entries))
      }).pipe(Effect.scoped)
    assert.strictEqual(await Effect.runPromise(read(image)), 4)
    for (const [path, bytes] of filesOf(image)) {
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const flipped = withEditedFiles(image, (name, old) => {
          if (`${journalDirectory}/${name}` !== path) return old
          const other = new Uint8Array(old)
          other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7))
          return other
        })
        const error = await Effect.runPromise(Effect.flip(read(flipped)))
        assert.strictEqual(error.code, "corrupt", `bit ${bit} of ${path}`)
      }
    }
  })
})

describe("a disk that fails an append", () => {
  for (const call of ["write", "syncData"] as const) {
    it(`in its ${call}: refused, nothing of it is left, and the next one is taken`, async () => {
      let fails = false
      const power = powerCutDisk((await livedMoments({ act: append("a") })).at(-1)!.image)
      const fail = () => Promise.reject(Object.assign(new Error("EIO"), { code: "EIO" }))
      const disk: Disk = {
        ...power.disk,
        openToWrite: async (path) => {
          const file = await power.disk.openToWrite(path)
          return {
            ...file,
            write: async (bytes, position) => {
              const isCut = fails && call === "write"
              await file.write(isCut ? bytes.subarray(0, bytes.length - 3) : bytes, position)
              if (isCut) await fail()
            },
            syncData: () => (fails && call === "syncData" ? fail() : file.syncData())
          }
        }
      }
      const program = Effect.gen(function* () {
        const journal = yield* openOn(disk, true)
        fails = true
        const refused = yield* Effect.exit(journal.append([Buffer.from(long("b"))]))
        assert.isTrue(Exit.isFailure(refused))
        fails = false
        yield* journal.append([Buffer.from("c")])
      })
      await Effect.runPromise(Effect.scoped(program))
      const texts = await Effect.runPromise(
        Effect.gen(function* () {
          const journal = yield* openOn(powerCutDisk(power.image()).disk, true)
          return yield* Stream.runCollect((yield* journal.recover).entries)
        }).pipe(Effect.scoped)
      )
      assert.deepStrictEqual(
        texts.map((text) => Buffer.from(text).toString()),
        ["a", "c"]
      )
    })
  }
})
