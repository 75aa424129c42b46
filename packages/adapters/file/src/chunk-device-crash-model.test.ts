import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Disk, nodeDisk } from "./chunk-device-disk.ts"
import { errnoOf } from "./chunk-device-errors.ts"
import { checkMoments } from "./testing/crash-check.ts"
import { lifeFrom, momentsOf, nothing, usedDevice, type Weaken } from "./testing/crash-life.ts"
import { chunkNamed } from "./testing/device-fixture.ts"
import { powerCutDisk } from "./testing/power-cut-disk.ts"
import { emptyImage, filesOf, possibleLosses, settle } from "./testing/power-cut-image.ts"

const write = async (disk: Disk, path: string, text: string) => {
  const file = await disk.create(path)
  await file.write(Buffer.from(text), 0)
  return file
}

type Call = (disk: Disk, at: (name: string) => string) => Promise<unknown>

/** Calls in turn on one disk, each with what it shows of its success. */
const calls: ReadonlyArray<readonly [string, Call]> = [
  ["makes a folder", (disk, at) => disk.makeDirectory(at("folder"))],
  ["makes it again", (disk, at) => disk.makeDirectory(at("folder"))],
  ["makes one without a parent", (disk, at) => disk.makeDirectory(at("none/folder"))],
  [
    "writes past the end",
    async (disk, at) => {
      const file = await write(disk, at("a"), "first")
      await file.write(Buffer.from("later"), 8)
      await file.write(Buffer.from("XY"), 1)
      await file.sync()
      const target = new Uint8Array(20)
      const answer = [await file.size(), await file.read(target, 2), Buffer.from(target).toString()]
      await file.close()
      return answer
    }
  ],
  ["creates what is there", (disk, at) => disk.create(at("a"))],
  ["creates in no folder", (disk, at) => disk.create(at("none/a"))],
  ["creates below a file", (disk, at) => disk.create(at("a/b"))],
  ["opens nothing", (disk, at) => disk.open(at("b"))],
  ["links", (disk, at) => disk.link(at("a"), at("folder/b"))],
  ["links to a name that is taken", (disk, at) => disk.link(at("a"), at("folder"))],
  ["links nothing", (disk, at) => disk.link(at("none"), at("c"))],
  ["renames over the same file", (disk, at) => disk.rename(at("a"), at("folder/b"))],
  ["lists", async (disk, at) => (await disk.names(at("."))).toSorted()],
  ["removes", (disk, at) => disk.unlink(at("a"))],
  ["removes again", (disk, at) => disk.unlink(at("a"))],
  [
    "reads by the other name",
    async (disk, at) => Buffer.from(await disk.readFile(at("folder/b"))).toString()
  ],
  ["writes another", async (disk, at) => (await write(disk, at("c"), "other")).close()],
  ["renames over a file", (disk, at) => disk.rename(at("c"), at("folder/b"))],
  ["renames nothing", (disk, at) => disk.rename(at("c"), at("d"))],
  [
    "reads what was renamed",
    async (disk, at) => Buffer.from(await disk.readFile(at("folder/b"))).toString()
  ],
  ["reads a folder", (disk, at) => disk.readFile(at("folder"))],
  ["looks at a file", (disk, at) => disk.stat(at("folder/b"))],
  ["looks below a file", (disk, at) => disk.stat(at("folder/b/c"))],
  ["lists a file", (disk, at) => disk.names(at("folder/b"))],
  ["lists nothing", (disk, at) => disk.names(at("none"))],
  ["syncs a folder", (disk, at) => disk.syncDirectory(at("folder"))],
  ["syncs no folder", (disk, at) => disk.syncDirectory(at("none"))],
  ["syncs a file as a folder", (disk, at) => disk.syncDirectory(at("folder/b"))]
]

const answersOf = async (disk: Disk, directory: string) => {
  const answers: Array<readonly [string, unknown]> = []
  for (const [title, call] of calls) {
    const answer = await call(disk, (name) => join(directory, name)).catch(
      (cause: unknown) => errnoOf(cause) || cause
    )
    answers.push([title, answer])
  }
  return answers
}

describe("the disk of the crash tests", () => {
  it("answers as the real one", async () => {
    const directory = await mkdtemp(join(tmpdir(), "holdfast-disk-"))
    try {
      const real = await answersOf(nodeDisk, directory)
      assert.deepStrictEqual(await answersOf(powerCutDisk(emptyImage).disk, "/"), real)
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  it("loses what was not synced, name by name and sector by sector, and nothing else", async () => {
    const power = powerCutDisk(emptyImage)
    const { disk } = power
    const file = await write(disk, "/kept", "a".repeat(600))
    await file.sync()
    await disk.syncDirectory("/")
    await file.write(Buffer.from("b".repeat(700)), 400)
    await disk.link("/kept", "/other")
    const wrecks = possibleLosses(power.image()).map((loss) => {
      const files = filesOf(settle(power.image(), [loss]))
      const content = Buffer.from(files.get("/kept") ?? "").toString()
      return [content.replaceAll(/(.)\1*/gs, (run) => `${run.length}${run[0]}`), files.size]
    })
    assert.deepStrictEqual(wrecks, [
      ["400a700b", 1],
      ["512a588b", 2],
      ["400a112b88a424\u000076b", 2],
      ["400a200b", 2],
      ["400a624b76\u0000", 2],
      ["400a624b", 2]
    ])
  })
})

const withoutDataSyncs: Weaken = (disk) => ({
  ...disk,
  create: async (path) => ({
    ...(await disk.create(path)),
    sync: () => Promise.resolve(),
    syncData: () => Promise.resolve()
  })
})

const withoutDirectorySyncs =
  (pattern: RegExp): Weaken =>
  (disk) => ({
    ...disk,
    syncDirectory: (path) => (pattern.test(path) ? Promise.resolve() : disk.syncDirectory(path))
  })

/** A rename that writes in place. */
const copyingRenames: Weaken = (disk) => ({
  ...disk,
  rename: async (from, to) => {
    const file = await disk.create(to)
    await file.write(await disk.readFile(from), 0)
    await file.sync()
    await disk.unlink(from)
  }
})

const weaknesses: ReadonlyArray<readonly [string, Weaken, RegExp]> = [
  ["data is not synced", withoutDataSyncs, /damaged files/],
  ["a copy's folder is not synced", withoutDirectorySyncs(/chunks\/\w+\/\w+$/), /was stored/],
  ["a new folder's parent is not synced", withoutDirectorySyncs(/chunks\/\w+$/), /was stored/],
  ["copies are written in place", copyingRenames, /damaged files/]
]

describe("the crash tests find a device for which", () => {
  for (const [title, weaken, finding] of weaknesses) {
    it(title, async () => {
      const start = await Effect.runPromise(usedDevice)
      const moments = await Effect.runPromise(
        momentsOf(
          start,
          { act: (life, device) => life.store(device, chunkNamed(0x50_0001)) },
          weaken
        )
      )
      const found = await checkMoments(moments).then(
        () => "nothing",
        (cause: unknown) => String(cause)
      )
      assert.match(found, finding)
    })
  }

  it("the device's own directory is not synced", async () => {
    const life = lifeFrom(nothing, withoutDirectorySyncs(/^\/d1$/))
    await Effect.runPromise(life.format)
    const found = await checkMoments(life.moments()).then(
      () => "nothing",
      (cause: unknown) => String(cause)
    )
    assert.notStrictEqual(found, "nothing")
  })
})
