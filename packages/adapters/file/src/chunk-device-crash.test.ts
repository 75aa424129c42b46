import { assert, describe, it } from "@effect/vitest"
import type { OpenDevice } from "@holdfast/storage"
import { Deferred, Effect, Exit, Scope } from "effect"
import { checkMoments, listed } from "./testing/crash-check.ts"
import {
  type Act,
  bytesOfCopy,
  deviceDirectory,
  largeFile,
  lifeFrom,
  type Life,
  momentsOf,
  nothing,
  usedDevice
} from "./testing/crash-life.ts"
import { chunkNamed, codeOf, open, store as storeBytes } from "./testing/device-fixture.ts"
import { powerCutDisk } from "./testing/power-cut-disk.ts"
import { filesOf, lossesUpToOne, namesUpToTwo } from "./testing/power-cut-image.ts"

const store = (fileId: number, version?: number) => (life: Life, device: OpenDevice) =>
  life.store(device, chunkNamed(fileId, version))
const remove = (fileId: number, version?: number) => (life: Life, device: OpenDevice) =>
  life.remove(device, chunkNamed(fileId, version))
const inTurn =
  (...acts: ReadonlyArray<Act["act"]>): Act["act"] =>
  (life, device) =>
    Effect.forEach(acts, (act) => act(life, device), { discard: true })
const atOnce =
  (...acts: ReadonlyArray<Act["act"]>): Act["act"] =>
  (life, device) =>
    Effect.forEach(acts, (act) => act(life, device), { discard: true, concurrency: "unbounded" })

/** Files in folders that the device does not have yet: two of one folder, one of another. */
const distant = { one: 0x50_0001, other: 0x50_0002, elsewhere: 0x50_0101 }

const acts: ReadonlyArray<readonly [title: string, act: Act]> = [
  ["metadata-W40: a copy in a folder that is there", { act: store(4) }],
  ["a copy in new folders", { act: store(distant.one) }],
  ["metadata-B64: the same copy again", { act: store(1) }],
  ["a newer version, then the older one goes", { act: inTurn(store(1, 2), remove(1)) }],
  ["the removal of a copy", { act: remove(2) }],
  ["the removal of a copy that is not there", { act: remove(4) }],
  ["a copy that was removed before", { before: remove(2), act: store(2) }],
  ["a copy beside a folder's first", { before: store(distant.one), act: store(distant.elsewhere) }],
  ["two removals of one copy at once", { act: atOnce(remove(2), remove(2)) }],
  ["removals of two copies of a folder at once", { act: atOnce(remove(1), remove(2)) }]
]

const sharingActs: ReadonlyArray<readonly [title: string, act: Act]> = [
  ["two copies in one new folder", { act: atOnce(store(distant.one), store(distant.other)) }],
  ["copies in two new folders", { act: atOnce(store(distant.one), store(distant.elsewhere)) }],
  ["one copy twice", { act: atOnce(store(4), store(4)) }],
  [
    "a copy, a newer version of another, a removal",
    { act: atOnce(store(4), store(1, 2), remove(2)) }
  ]
]

describe("metadata-T7: crash points of a device", () => {
  for (const [title, act] of acts) {
    it(title, async () => {
      const start = await Effect.runPromise(usedDevice)
      const moments = await Effect.runPromise(momentsOf(start, act))
      assert.isAbove(await checkMoments(moments), 2)
    })
  }

  for (const [title, act] of sharingActs) {
    it(`at once: ${title}`, async () => {
      const start = await Effect.runPromise(usedDevice)
      const moments = await Effect.runPromise(momentsOf(start, act))
      assert.isAbove(await checkMoments(moments, namesUpToTwo), 20)
    })
  }

  it("a copy of two blocks, one effect at a time", async () => {
    const start = await Effect.runPromise(usedDevice)
    const moments = await Effect.runPromise(momentsOf(start, { act: store(largeFile) }))
    assert.isAbove(await checkMoments(moments, lossesUpToOne), 200)
  })

  it("metadata-B63: format, and format after one that was cut short", async () => {
    const life = lifeFrom(nothing)
    await Effect.runPromise(life.format)
    assert.isAbove(await checkMoments(life.moments()), 10)
    const cuts = life.moments().filter(({ image }) => !filesOf(image).has("/d1/identity"))
    for (const cut of cuts) {
      const again = lifeFrom(cut)
      await Effect.runPromise(again.format)
      await checkMoments(again.moments())
    }
  })

  it("opening and closing", async () => {
    const life = lifeFrom(await Effect.runPromise(usedDevice))
    const scope = await Effect.runPromise(Scope.make())
    await Effect.runPromise(Scope.provide(life.open, scope))
    assert.isAbove(await checkMoments(life.moments()), 8)
    life.flush()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    assert.isAbove(await checkMoments(life.moments()), 4)
  })
})

describe("accounts", () => {
  it("a removal that begins at any call of a repeated write leaves the accounts right", async () => {
    const { image, answers } = await Effect.runPromise(usedDevice)
    const copy = chunkNamed(2)
    const run = (removeAt: number) =>
      Effect.scoped(
        Effect.gen(function* () {
          const begin = yield* Deferred.make<void>()
          let calls = Number.NEGATIVE_INFINITY
          const power = powerCutDisk(image, () => {
            calls += 1
            if (calls === removeAt) Deferred.doneUnsafe(begin, Effect.void)
          })
          const device = yield* open(deviceDirectory, { disk: power.disk })
          calls = 0
          yield* Effect.all(
            [
              codeOf(Effect.andThen(Deferred.await(begin), device.remove(copy))),
              Effect.andThen(
                storeBytes(device, copy, bytesOfCopy(copy)),
                Deferred.succeed(begin, undefined)
              )
            ],
            { concurrency: 2 }
          )
          yield* listed(device, power, answers)
          return calls
        })
      )
    const calls = await Effect.runPromise(run(0))
    assert.isAbove(calls, 20)
    for (let call = 1; call <= calls; call += 1) await Effect.runPromise(run(call))
  })
})
