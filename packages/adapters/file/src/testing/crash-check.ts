/**
 * The oracle of the crash tests: for each moment and each way to lose up to two of the effects
 * that were not synced, or all of them, the device is opened again and must be what it answered.
 *
 * 1. A stored copy is whole and is read; one that was not answered is whole or absent.
 * 2. A removed copy stays removed.
 * 3. The identity is the one that was answered, and each opening has a higher epoch.
 * 4. The list names the damage that was there before and no other; the accounts equal a recount.
 * 5. What a crash leaves besides copies is removed; what was not answered can be done again.
 */
import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import type { OpenDevice, StoredCopy } from "@holdfast/storage"
import { Effect, Stream } from "effect"
import { lengthOfFile } from "../block-file-format.ts"
import {
  type Answers,
  bytesOfCopy,
  copyWords,
  deviceDirectory,
  type Fate,
  type Moment
} from "./crash-life.ts"
import { codeOf, format, load, open, store } from "./device-fixture.ts"
import { type PowerCutDisk, powerCutDisk } from "./power-cut-disk.ts"
import {
  type DiskImage,
  filesOf,
  fingerprint,
  type Loss,
  lossesUpToTwo,
  possibleLosses,
  settle,
  withEditedFiles
} from "./power-cut-image.ts"

/** The image as a later process finds it: whoever made a claim is gone. */
export const withoutHolder = (image: DiskImage): DiskImage =>
  withEditedFiles(image, (name, bytes) =>
    /^(claim|draft)-/.test(name)
      ? Buffer.from(
          Buffer.from(bytes)
            .toString("latin1")
            .replace(/"boot":"\w*/, '"boot":"earlier')
        )
      : bytes
  )

type Intact = Extract<StoredCopy, { readonly _tag: "Intact" }>

/** Lists a device: the damage is the known one, and the accounts equal a recount. */
export const listed = Effect.fnUntraced(function* (
  device: OpenDevice,
  power: Pick<PowerCutDisk, "image">,
  answers: Answers
) {
  const copies = yield* Stream.runCollect(device.list)
  const intact = copies.filter((copy): copy is Intact => copy._tag === "Intact")
  const damaged = copies.flatMap((copy) => (copy._tag === "Damaged" ? [copy.file] : []))
  assert.deepStrictEqual(new Set(damaged), answers.damaged, "damaged files")
  const sizes = [...filesOf(power.image())]
    .filter(([path]) => /\/chunks\/.*\.chunk$/.test(path))
    .map(([, bytes]) => lengthOfFile(bytes.length))
  const { copies: count, used } = yield* device.usage
  assert.deepStrictEqual(
    { count, used },
    { count: sizes.length, used: sizes.reduce((sum, size) => sum + size, 0) },
    "the accounts"
  )
  return intact
})

const checkFates = Effect.fnUntraced(function* (
  device: OpenDevice,
  intact: ReadonlyArray<Intact>,
  fates: ReadonlyMap<string, Fate>
) {
  const present = new Set(intact.map(copyWords))
  for (const copy of intact) {
    assert.ok(fates.has(copyWords(copy)), `${copyWords(copy)} was never stored`)
    const bytes = Buffer.from(yield* load(device, copy))
    assert.ok(bytes.equals(bytesOfCopy(copy)), `${copyWords(copy)} has its bytes`)
    yield* device.verify(copy)
  }
  for (const [words, fate] of fates) {
    if (fate === "present") assert.ok(present.has(words), `${words} was stored`)
    if (fate === "absent") assert.ok(!present.has(words), `${words} was removed`)
  }
})

const noRubble = (image: DiskImage) => {
  const names = [...filesOf(image).keys()].filter((path) => !path.includes("/chunks/"))
  assert.strictEqual(names.filter((path) => /\/claim-/.test(path)).length, 1, "one claim")
  assert.deepStrictEqual(
    names.filter((path) => !/\/(claim-\d+|identity(\.draft)?)$/.test(path)),
    [],
    "nothing is left over"
  )
}

/** Stores what was not answered once more, and one that is new. */
const repeatAll = Effect.fnUntraced(function* (device: OpenDevice, answers: Answers) {
  const open = [...answers.copies].flatMap(([words, fate]) => (fate === "either" ? [words] : []))
  for (const words of ["77/0/1", ...open]) {
    const [fileId = 0, chunkId = 0, version = 0] = words.split("/").map(Number)
    const chunk = { fileId, chunkId, version }
    yield* store(device, chunk, bytesOfCopy(chunk))
  }
  return new Map<string, Fate>([
    ...answers.copies,
    ...["77/0/1", ...open].map((words) => [words, "present"] as const)
  ])
})

/** Opens the device on what a power cut left, and checks all that was answered. */
export const checkWreck = Effect.fnUntraced(function* (image: DiskImage, answers: Answers) {
  const power = powerCutDisk(withoutHolder(image))
  const { disk } = power
  if (answers.identity === undefined && !filesOf(image).has(`${deviceDirectory}/identity`)) {
    const code = yield* codeOf(Effect.scoped(open(deviceDirectory, { disk })))
    assert.strictEqual(code, "not-formatted")
    yield* format(deviceDirectory, disk)
  }
  const first = yield* Effect.scoped(
    Effect.gen(function* () {
      const device = yield* open(deviceDirectory, { disk })
      if (answers.identity !== undefined) {
        assert.deepStrictEqual(device.identity, answers.identity)
      }
      assert.ok(device.epoch > answers.epoch, "epochs rise")
      yield* checkFates(device, yield* listed(device, power, answers), answers.copies)
      const fates = yield* repeatAll(device, answers)
      yield* checkFates(device, yield* listed(device, power, answers), fates)
      return device
    })
  )
  yield* Effect.scoped(
    Effect.gen(function* () {
      const second = yield* open(deviceDirectory, { disk })
      assert.deepStrictEqual(second.identity, first.identity)
      assert.strictEqual(second.epoch, first.epoch + 1)
      noRubble(power.image())
    })
  )
})

const digests = new WeakMap<Uint8Array, string>()

const digest = (bytes: Uint8Array): string => {
  const known = digests.get(bytes) ?? createHash("sha1").update(bytes).digest("base64")
  digests.set(bytes, known)
  return known
}

/** Drafts carry a random part in their names. */
const nameOf = (name: string): string => name.replace(/^(draft-\d+-).*/, "$1")

const lossWords = (loss: Loss): string => {
  switch (loss._tag) {
    case "Name":
      return `${loss.change.name} ${loss.change.node === undefined ? "removed" : "made"}`
    case "Sector":
      return `sector ${loss.sector} of file ${loss.file}`
    case "Cut":
      return `the cut of file ${loss.file}`
    case "End":
      return `file ${loss.file} from sector ${loss.sector} on`
  }
}

const saidOf = (answers: Answers): string =>
  JSON.stringify([answers.identity, answers.epoch, [...answers.copies], [...answers.damaged]])

/** How much is lost at a time. */
export type Enumeration = (losses: ReadonlyArray<Loss>) => Iterable<ReadonlyArray<Loss>>

/** Checks every different wreck of every moment; answers how many there were. */
export const checkMoments = async (
  moments: ReadonlyArray<Moment>,
  enumerate: Enumeration = lossesUpToTwo
): Promise<number> => {
  const seen = new Set<string>()
  let last: Moment | undefined
  for (const moment of moments) {
    const { call, image, answers } = moment
    if (image === last?.image && answers === last.answers) continue
    last = moment
    const said = saidOf(answers)
    for (const lost of enumerate(possibleLosses(image))) {
      const wreck = settle(image, lost)
      const key = `${fingerprint(wreck, { digest, nameOf })} ${said}`
      if (seen.has(key)) continue
      seen.add(key)
      await Effect.runPromise(checkWreck(wreck, answers)).catch((cause: unknown) => {
        const loss = lost.map(lossWords).join(" and ") || "nothing"
        const why = cause instanceof Error ? cause.message : String(cause)
        throw new Error(`case ${seen.size}, cut after "${call}", lost ${loss}: ${why}`, { cause })
      })
    }
  }
  return seen.size
}
