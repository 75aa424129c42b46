import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { OpenDevice } from "@holdfast/storage"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { blockBytes } from "./block-file-format.ts"
import {
  chunkNamed,
  codeOf,
  format,
  freshDirectory,
  load,
  open,
  patterned,
  store
} from "./testing/device-fixture.ts"
import { powerCutDisk } from "./testing/power-cut-disk.ts"

/** What was answered before the power went. */
interface Answered {
  formatted: boolean
  epoch: number
  /** Files whose copy was answered as stored. */
  readonly stored: Set<number>
  /** Files whose removal began; answered removals are in `removed` too. */
  readonly removing: Set<number>
  readonly removed: Set<number>
}

const lengthOf = (fileId: number) => (fileId === 2 ? 2 * blockBytes + 9 : 100 * fileId)
const bytesOf = (fileId: number) => patterned(lengthOf(fileId), fileId)

const storeFile = (device: OpenDevice, answered: Answered, fileId: number) =>
  store(device, chunkNamed(fileId), bytesOf(fileId)).pipe(
    Effect.tap(() => Effect.sync(() => answered.stored.add(fileId)))
  )

/** Formats, stores three copies (one of them twice), removes one, opens again, stores a fourth. */
const life = (directory: string, cutAt: number, answered: Answered) => {
  const cut = powerCutDisk(cutAt)
  const opened = Effect.gen(function* () {
    const device = yield* open(directory, { disk: cut.disk })
    answered.epoch = device.epoch
    return device
  })
  const acts = Effect.gen(function* () {
    yield* format(directory, cut.disk)
    answered.formatted = true
    yield* Effect.scoped(
      Effect.gen(function* () {
        const device = yield* opened
        yield* storeFile(device, answered, 1)
        yield* storeFile(device, answered, 2)
        yield* storeFile(device, answered, 2)
        yield* storeFile(device, answered, 300)
        answered.removing.add(1)
        yield* device.remove(chunkNamed(1))
        answered.removed.add(1)
      })
    )
    yield* Effect.scoped(opened.pipe(Effect.flatMap((device) => storeFile(device, answered, 4))))
  })
  return Effect.ignore(acts).pipe(Effect.as(cut))
}

const check = Effect.fnUntraced(function* (directory: string, answered: Answered) {
  if (!answered.formatted && (yield* codeOf(Effect.scoped(open(directory)))) === "not-formatted") {
    yield* format(directory)
  }
  const device = yield* open(directory)
  assert.isAbove(device.epoch, answered.epoch, "epochs rise")
  const copies = yield* Stream.runCollect(device.list)
  assert.deepStrictEqual(
    copies.filter((copy) => copy._tag === "Damaged"),
    [],
    "no copy is half there"
  )
  const present = new Set(copies.map((copy) => (copy._tag === "Intact" ? copy.fileId : 0)))
  for (const fileId of present) {
    assert.deepStrictEqual(yield* load(device, chunkNamed(fileId)), bytesOf(fileId))
  }
  for (const fileId of answered.stored) {
    if (!answered.removing.has(fileId)) assert.isTrue(present.has(fileId), `${fileId} was stored`)
  }
  for (const fileId of answered.removed) assert.isFalse(present.has(fileId), "removed stays so")
  assert.deepStrictEqual(yield* Effect.promise(() => readdir(join(directory, "incoming"))), [])
  assert.strictEqual((yield* device.usage).copies, present.size)
})

/** After a power cut every claim is one of an earlier boot. */
const reboot = (directory: string) =>
  Effect.promise(async () => {
    const names = await readdir(directory).catch((): Array<string> => [])
    for (const name of names.filter((each) => each.startsWith("claim-"))) {
      const path = join(directory, name)
      const claim = await readFile(path, "utf8")
      await writeFile(path, claim.replace(/"boot":"[^"]*"/, '"boot":"earlier"'))
    }
  })

const freshAnswers = (): Answered => ({
  formatted: false,
  epoch: 0,
  stored: new Set(),
  removing: new Set(),
  removed: new Set()
})

const cutAndCheck = (cutAt: number, keeps: () => boolean) =>
  Effect.gen(function* () {
    const directory = join(yield* freshDirectory, "d1")
    const answered = freshAnswers()
    const cut = yield* life(directory, cutAt, answered)
    yield* Effect.promise(() => cut.settle(keeps))
    yield* reboot(directory)
    yield* check(directory, answered)
    return cut.calls()
  }).pipe(Effect.scoped)

describe("power cuts", () => {
  it.effect("metadata-T7: at each step, with all that was not synced gone, all answers hold", () =>
    Effect.gen(function* () {
      const calls = yield* cutAndCheck(Number.POSITIVE_INFINITY, () => true)
      assert.isAbove(calls, 50)
      for (let cutAt = 1; cutAt <= calls; cutAt += 1) yield* cutAndCheck(cutAt, () => false)
    })
  )

  it.effect("metadata-B66: at any step, with any part of what was not synced gone", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 100 }),
          fc.infiniteStream(fc.boolean()),
          async (cutAt, coins) => {
            await Effect.runPromise(cutAndCheck(cutAt, () => coins.next().value))
          }
        ),
        { numRuns: 40 }
      )
    )
  )
})
