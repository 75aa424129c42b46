import { assert, describe, it } from "@effect/vitest"
import { type ChunkDeviceError, type OpenDevice } from "@holdfast/storage"
import { Effect, Stream } from "effect"
import { checkMoments, withoutHolder } from "./testing/crash-check.ts"
import {
  copyWords,
  type Fate,
  type Life,
  lifeFrom,
  type Moment,
  momentsOf,
  usedDevice
} from "./testing/crash-life.ts"
import { chunkNamed } from "./testing/device-fixture.ts"
import { settle } from "./testing/power-cut-image.ts"

/** A first copy in new folders, a newer version of an old copy, and the old one removed. */
const busy = Effect.fnUntraced(function* (life: Life, device: OpenDevice) {
  yield* life.store(device, chunkNamed(0x50_0001))
  yield* life.store(device, chunkNamed(1, 2))
  yield* life.remove(device, chunkNamed(1))
})

/** A process that opens the device, lists it, and from then on answers for what it found. */
const opened = (
  start: Moment
): Effect.Effect<
  { readonly opening: ReadonlyArray<Moment>; readonly listed: Moment },
  ChunkDeviceError
> =>
  Effect.scoped(
    Effect.gen(function* () {
      const life = lifeFrom({ ...start, image: withoutHolder(start.image) })
      const device = yield* life.open
      const opening = life.moments()
      const copies = yield* Stream.runCollect(device.list)
      const found = new Set(copies.map((copy) => (copy._tag === "Intact" ? copyWords(copy) : "")))
      life.answer("listed", (answers) => ({
        copies: new Map(
          [...answers.copies.keys()].map((words): [string, Fate] => [
            words,
            found.has(words) ? "present" : "absent"
          ])
        )
      }))
      const listed = life.moments().at(-1) ?? start
      return { opening, listed }
    })
  )

const busyMoments = Effect.gen(function* () {
  return yield* momentsOf(yield* usedDevice, { act: busy })
})

describe("crash points after a crash", () => {
  it("metadata-B66: what a process lists that follows a killed one outlasts a power cut", async () => {
    const moments = await Effect.runPromise(busyMoments)
    const listed: Array<Moment> = []
    for (const moment of moments) listed.push((await Effect.runPromise(opened(moment))).listed)
    assert.isAbove(await checkMoments(listed), 50)
  })

  it("an opening that is cut short itself, after a kill or a power cut", async () => {
    const moments = await Effect.runPromise(busyMoments)
    const parts = moments.filter(({ call }) => /^(write|rename|unlink|answered)/.test(call))
    const openings: Array<Moment> = []
    for (const moment of parts) {
      for (const image of [moment.image, settle(moment.image, [])]) {
        openings.push(...(await Effect.runPromise(opened({ ...moment, image }))).opening)
      }
    }
    assert.isAbove(await checkMoments(openings), 100)
  })
})
