/**
 * A device's life on a disk that may lose its power: what it does, and what was answered when.
 *
 *     before ─▶ flush ─▶ act ─▶ moments: (call or answer, image, answers so far)*
 */
import { join } from "node:path"
import type { ChunkDeviceError, ChunkName, DeviceIdentity, OpenDevice } from "@holdfast/storage"
import { Effect, Exit, Scope } from "effect"
import { blockBytes } from "../block-file-format.ts"
import type { Disk } from "../chunk-device-disk.ts"
import { copyPath } from "../chunk-device-layout.ts"
import { chunkNamed, format, open, patterned, store } from "./device-fixture.ts"
import { powerCutDisk } from "./power-cut-disk.ts"
import { type DiskImage, emptyImage } from "./power-cut-image.ts"

/** Where the device is. */
export const deviceDirectory = "/d1"

/** What a copy must be after what was answered of it; one that began to change is `either`. */
export type Fate = "present" | "absent" | "either"

/** What was answered. */
export interface Answers {
  readonly identity: DeviceIdentity | undefined
  readonly epoch: number
  /** The fate of each copy that was ever begun, by `copyWords`. */
  readonly copies: ReadonlyMap<string, Fate>
  /** Files that were damaged before, by their names below `chunks`. */
  readonly damaged: ReadonlySet<string>
}

/** A moment at which the power may fail. */
export interface Moment {
  readonly call: string
  readonly image: DiskImage
  readonly answers: Answers
}

/** Names a copy. */
export const copyWords = ({ fileId, chunkId, version }: ChunkName): string =>
  `${fileId}/${chunkId}/${version}`

/** A file whose copies have two blocks. */
export const largeFile = 200

const known = new Map<string, Uint8Array>()

/** The bytes of a copy: few sectors for most, other ones for each chunk and version. */
export const bytesOfCopy = (chunk: ChunkName): Uint8Array => {
  const { fileId, version } = chunk
  const length = fileId === largeFile ? blockBytes + 9 : 700 + 37 * (fileId % 16)
  const bytes = known.get(copyWords(chunk)) ?? patterned(length, 1000 * fileId + version)
  known.set(copyWords(chunk), bytes)
  return bytes
}

/** A disk on which nothing ever was. */
export const nothing: Moment = {
  call: "the beginning",
  image: emptyImage,
  answers: { identity: undefined, epoch: 0, copies: new Map(), damaged: new Set() }
}

/** The acts of a life; each tells when it begins what it may change, and what was answered. */
export interface Life {
  readonly disk: Disk
  readonly format: Effect.Effect<void, ChunkDeviceError>
  readonly open: Effect.Effect<OpenDevice, ChunkDeviceError, Scope.Scope>
  readonly store: (device: OpenDevice, chunk: ChunkName) => Effect.Effect<void, ChunkDeviceError>
  readonly remove: (device: OpenDevice, chunk: ChunkName) => Effect.Effect<void, ChunkDeviceError>
  /** Takes note of what an act changed in the answers. */
  readonly answer: (what: string, change: (answers: Answers) => Partial<Answers>) => void
  /** All of it is durable; moments count from here. */
  readonly flush: () => void
  readonly moments: () => ReadonlyArray<Moment>
}

const withFate = (answers: Answers, chunk: ChunkName, fate: Fate): Partial<Answers> => ({
  copies: new Map([...answers.copies, [copyWords(chunk), fate]])
})

/** How a test makes a disk worse than it is. */
export type Weaken = (disk: Disk) => Disk

/** Begins a life where another moment was. */
export const lifeFrom = (start: Moment, weaken: Weaken = (disk) => disk): Life => {
  let answers = start.answers
  let moments: Array<Moment> = [start]
  const power = powerCutDisk(start.image, (call, image) => moments.push({ call, image, answers }))
  const disk = weaken(power.disk)
  const answer: Life["answer"] = (what, change) => {
    answers = { ...answers, ...change(answers) }
    moments.push({ call: what, image: power.image(), answers })
  }
  const fate = (what: string, chunk: ChunkName, next: Fate) =>
    Effect.sync(() => answer(`${what} ${copyWords(chunk)}`, (said) => withFate(said, chunk, next)))
  return {
    disk,
    format: format(deviceDirectory, disk).pipe(
      Effect.map((identity) => answer("answered format", () => ({ identity })))
    ),
    open: open(deviceDirectory, { disk }).pipe(
      Effect.tap(({ epoch }) => Effect.sync(() => answer("answered open", () => ({ epoch }))))
    ),
    store: Effect.fnUntraced(function* (device, chunk) {
      if (answers.copies.get(copyWords(chunk)) !== "present") {
        yield* fate("began to store", chunk, "either")
      }
      yield* store(device, chunk, bytesOfCopy(chunk))
      yield* fate("answered the store of", chunk, "present")
    }),
    remove: Effect.fnUntraced(function* (device, chunk) {
      yield* fate("began to remove", chunk, "either")
      yield* device.remove(chunk).pipe(
        Effect.catchIf(
          (error) => error.code === "not-found",
          () => Effect.void
        )
      )
      yield* fate("answered the removal of", chunk, "absent")
    }),
    answer,
    flush: () => {
      power.flush()
      moments = [{ call: "the beginning", image: power.image(), answers }]
    },
    moments: () => [...moments]
  }
}

/** The last moment of a life. */
export const lastOf = (moments: ReadonlyArray<Moment>): Moment => moments.at(-1) ?? nothing

/** A closed device with copies 1 and 2 in one folder, a torn copy and a file that is none. */
export const usedDevice: Effect.Effect<Moment, ChunkDeviceError> = Effect.gen(function* () {
  const life = lifeFrom(nothing)
  yield* life.format
  yield* Effect.scoped(
    Effect.gen(function* () {
      const device = yield* life.open
      yield* life.store(device, chunkNamed(1))
      yield* life.store(device, chunkNamed(2))
    })
  )
  const { folder, name } = copyPath(chunkNamed(3))
  const damaged = [name, "stray"].map((each) => join(folder, each))
  yield* Effect.promise(async () => {
    for (const file of damaged) {
      const made = await life.disk.create(join(deviceDirectory, "chunks", file))
      await made.write(new Uint8Array(5000), 0)
    }
  })
  life.answer("damage", () => ({ damaged: new Set(damaged) }))
  life.flush()
  return lastOf(life.moments())
})

/** An act and what comes before it, on a device that is open while both run. */
export interface Act {
  readonly before?: (life: Life, device: OpenDevice) => Effect.Effect<void, ChunkDeviceError>
  readonly act: (life: Life, device: OpenDevice) => Effect.Effect<void, ChunkDeviceError>
}

/** The moments of an act on an open device. */
export const momentsOf = (
  start: Moment,
  act: Act,
  weaken?: Weaken
): Effect.Effect<ReadonlyArray<Moment>, ChunkDeviceError> =>
  Effect.gen(function* () {
    const life = lifeFrom(start, weaken)
    const scope = yield* Scope.make()
    const device = yield* Scope.provide(life.open, scope)
    if (act.before !== undefined) yield* act.before(life, device)
    life.flush()
    yield* act.act(life, device)
    const moments = life.moments()
    yield* Scope.close(scope, Exit.void)
    return moments
  })
