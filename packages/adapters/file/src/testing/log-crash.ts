/**
 * A journal's life on a disk that may lose its power, and the oracle: whatever a power cut takes
 * of what was not synced, the journal opens again and holds every append that was answered, and of
 * the others a beginning, each whole and in order.
 */
import assert from "node:assert/strict"
import type { Journal } from "@holdfast/storage"
import { Effect, Stream } from "effect"
import type { Disk } from "../chunk-device-disk.ts"
import { openLogJournal } from "../log-journal.ts"
import { powerCutDisk } from "./power-cut-disk.ts"
import {
  type DiskImage,
  emptyImage,
  type Loss,
  lossesUpToTwo,
  possibleLosses,
  settle
} from "./power-cut-image.ts"

/** Where the journal is. */
export const journalDirectory = "/j"

/** Opens the journal on a disk in memory. */
export const openOn = (disk: Disk, mustExist: boolean) =>
  openLogJournal({ directory: journalDirectory, disk, mustExist, freeBytes: () => 2 ** 40 })

/** A moment at which the power may fail, and what must be there after it. */
interface Moment {
  readonly call: string
  readonly image: DiskImage
  readonly isOpen: boolean
  /** Every append that was begun, in order, and how many of them were answered. */
  readonly begun: ReadonlyArray<string>
  readonly answered: number
}

/** What an act may do. */
export interface JournalLife {
  readonly append: (...texts: ReadonlyArray<string>) => Effect.Effect<void, unknown>
  /** Replaces all that was answered by a snapshot of it. */
  readonly compact: Effect.Effect<void, unknown>
}

const bytesOf = (text: string) => Buffer.from(text)

const contents = Effect.fnUntraced(function* (journal: Journal["Service"]) {
  const { entries, snapshot } = yield* journal.recover
  const all = yield* Stream.runCollect(Stream.concat(snapshot, entries))
  return all.map((each) => Buffer.from(each).toString())
})

/** An empty directory. */
const emptyDisk = async (): Promise<DiskImage> => {
  const power = powerCutDisk(emptyImage)
  await power.disk.makeDirectory(journalDirectory)
  power.flush()
  return power.image()
}

/** Lives a life; every call of it is a moment. `weaken` makes the disk worse than it is. */
export const livedMoments = async (
  life: {
    /** Where it begins, if not in an empty directory, and what was answered there. */
    readonly start?: { readonly image: DiskImage; readonly answered: ReadonlyArray<string> }
    readonly before?: (life: JournalLife) => Effect.Effect<void, unknown>
    readonly act: (life: JournalLife) => Effect.Effect<void, unknown>
  },
  weaken: (disk: Disk) => Disk = (disk) => disk
): Promise<ReadonlyArray<Moment>> => {
  const moments: Array<Moment> = []
  const begun = [...(life.start?.answered ?? [])]
  let answered = begun.length
  let isOpen = life.start !== undefined
  const note = (call: string, image: DiskImage) => {
    moments.push({ call, image, isOpen, begun: [...begun], answered })
  }
  const power = powerCutDisk(life.start?.image ?? (await emptyDisk()), note)
  const program = Effect.gen(function* () {
    const journal = yield* openOn(weaken(power.disk), false)
    isOpen = true
    note("open", power.image())
    const acts: JournalLife = {
      append: (...texts) =>
        Effect.gen(function* () {
          begun.push(...texts)
          const upTo = begun.length
          yield* journal.append(texts.map(bytesOf))
          answered = Math.max(answered, upTo)
          note("answer", power.image())
        }),
      compact: Effect.suspend(() => {
        const parts = function* () {
          yield* begun.slice(0, answered).map(bytesOf)
        }
        return journal.compact({ [Symbol.iterator]: parts })
      })
    }
    if (life.before !== undefined) {
      yield* life.before(acts)
      power.flush()
      moments.length = 0
    }
    yield* life.act(acts)
    note("the end", power.image())
  })
  await Effect.runPromise(Effect.scoped(program))
  return moments
}

const checkWreck = Effect.fnUntraced(function* (image: DiskImage, moment: Moment) {
  const power = powerCutDisk(image)
  const found = yield* Effect.scoped(
    Effect.gen(function* () {
      const journal = yield* openOn(power.disk, moment.isOpen)
      const texts = yield* contents(journal)
      assert.deepEqual(texts, moment.begun.slice(0, texts.length), "appends in their order")
      assert.ok(texts.length >= moment.answered, `${texts.length} of ${moment.answered} answered`)
      yield* journal.append([bytesOf("afterwards")])
      return texts
    })
  )
  yield* Effect.scoped(
    Effect.gen(function* () {
      const journal = yield* openOn(powerCutDisk(power.image()).disk, true)
      assert.equal((yield* journal.recover).cutEntries, 0, "nothing more to cut")
      assert.deepEqual(yield* contents(journal), [...found, "afterwards"])
    })
  )
  const names = yield* Effect.promise(() => power.disk.names(journalDirectory))
  assert.deepEqual(
    names.filter((name) => name.endsWith(".draft")),
    [],
    "no drafts"
  )
})

/** Checks every wreck of every moment; answers how many there were. */
export const checkAll = async (moments: ReadonlyArray<Moment>): Promise<number> => {
  let checked = 0
  let last: Moment | undefined
  for (const moment of moments) {
    if (moment.image === last?.image && moment.answered === last.answered) continue
    last = moment
    for (const lost of lossesUpToTwo(possibleLosses(moment.image))) {
      checked += 1
      await Effect.runPromise(checkWreck(settle(moment.image, lost), moment)).catch(
        (cause: unknown) => {
          const why = cause instanceof Error ? cause.message : String(cause)
          const what = `cut after "${moment.call}", lost ${lossesInWords(lost)}`
          throw new Error(`case ${checked}, ${what}: ${why}`, { cause })
        }
      )
    }
  }
  return checked
}

const lossesInWords = (lost: ReadonlyArray<Loss>): string =>
  lost.map((loss) => JSON.stringify(loss)).join(" and ") || "nothing"
