/** One open chunk device on a memory disk; the promises are the port's. */
import { crc32 } from "node:zlib"
import {
  type ByteRange,
  type ChunkDescription,
  ChunkDeviceError,
  type ChunkName,
  type ChunkWriter,
  type DeviceIdentity,
  type DeviceUsage,
  type OpenDevice,
  type StoredCopy
} from "@holdfast/storage"
import { Effect, Option, type Scope, Stream } from "effect"
import { type CellWrite, sortedKeys } from "./cells.ts"
import {
  blockBytes,
  blockKey,
  copyWrites,
  headKey,
  headValue,
  intactBytes,
  removalWrites
} from "./device-cells.ts"
import type { DiskRefusal, FileHold } from "./memory-disk.ts"

/** What an open device is made of. */
export interface HeldDevice {
  readonly hold: FileHold
  readonly identity: DeviceIdentity
  /** Room on the disk beside the device's own limits, in bytes. */
  readonly diskRoom: Effect.Effect<{ readonly capacity: number; readonly free: number }>
  readonly capacityBytes: number
  readonly reservedBytes: number
  /** Bytes that writes in progress may still store. */
  reserved: number
  /** Bytes of finished copies, and how many there are. */
  used: number
  copies: number
  isOpen: boolean
}

/** A refusal of a device. */
export const deviceError = (
  device: { readonly identity: { readonly deviceId: string } },
  code: ChunkDeviceError["code"],
  message: string
): ChunkDeviceError => new ChunkDeviceError({ code, deviceId: device.identity.deviceId, message })

const onDisk = <A, R>(device: HeldDevice, act: Effect.Effect<A, DiskRefusal, R>) =>
  Effect.mapError(act, ({ code, message }) => deviceError(device, code, message))

const whileOpen = (device: HeldDevice): Effect.Effect<void, ChunkDeviceError> =>
  Effect.suspend(() =>
    device.isOpen
      ? onDisk(device, device.hold.readable)
      : Effect.fail(deviceError(device, "closed", "the device was closed"))
  )

const words = (chunk: ChunkName): string =>
  `chunk ${chunk.fileId}/${chunk.chunkId} version ${chunk.version}`

const describe = (device: HeldDevice, chunk: ChunkName) =>
  Effect.suspend(() => {
    const key = headKey(chunk)
    if (!device.hold.cells.has(key)) {
      const message = `${words(chunk)} is not on this device`
      return Effect.fail(deviceError(device, "not-found", message))
    }
    const bytes = intactBytes(device.hold.cells, key)
    const description = bytes === undefined ? Option.none() : headValue.decode(bytes)
    return Option.isSome(description)
      ? Effect.succeed(description.value)
      : Effect.fail(deviceError(device, "corrupt", `the head of ${words(chunk)} is damaged`))
  })

const isRange = ({ start, end }: ByteRange, length: number): boolean =>
  Number.isSafeInteger(start) &&
  Number.isSafeInteger(end) &&
  0 <= start &&
  start <= end &&
  end <= length

const readBlock = (device: HeldDevice, chunk: ChunkName, index: number) =>
  Effect.suspend(() => {
    const bytes = intactBytes(device.hold.cells, blockKey(chunk, index))
    const message = `block ${index} of ${words(chunk)} is damaged`
    return bytes === undefined
      ? Effect.fail(deviceError(device, "corrupt", message))
      : Effect.succeed(bytes)
  })

const read = (device: HeldDevice): OpenDevice["read"] => {
  return ({ chunk, range }) =>
    Stream.unwrap(
      Effect.gen(function* () {
        yield* whileOpen(device)
        const { length } = yield* describe(device, chunk)
        const wanted = Option.getOrElse(range, () => ({ start: 0, end: length }))
        if (!isRange(wanted, length)) {
          const message = `${wanted.start} to ${wanted.end} is not within ${length} bytes`
          return yield* deviceError(device, "out-of-range", message)
        }
        const first = Math.floor(wanted.start / blockBytes)
        const past = wanted.start === wanted.end ? first : Math.ceil(wanted.end / blockBytes)
        const blocks = Array.from({ length: past - first }, (_, index) => first + index)
        return Stream.fromArray(blocks).pipe(
          Stream.mapEffect((index) =>
            Effect.map(readBlock(device, chunk, index), (block) =>
              block.slice(
                Math.max(0, wanted.start - index * blockBytes),
                wanted.end - index * blockBytes
              )
            )
          )
        )
      })
    )
}

const verify = (device: HeldDevice, chunk: ChunkName) =>
  Effect.gen(function* () {
    yield* whileOpen(device)
    const description = yield* describe(device, chunk)
    let checksum = 0
    let length = 0
    for (let index = 0; index * blockBytes < description.length; index += 1) {
      const block = yield* readBlock(device, chunk, index)
      checksum = crc32(block, checksum)
      length += block.length
    }
    if (checksum !== description.checksum || length !== description.length) {
      const message = `${words(chunk)} does not have its checksum`
      return yield* deviceError(device, "corrupt", message)
    }
    return description
  })

/** What the device holds and may still take. */
export const usageOf = (device: HeldDevice): Effect.Effect<DeviceUsage> =>
  Effect.map(device.diskRoom, ({ capacity: diskCapacity, free }) => {
    const { used, copies } = device
    const capacity = Math.min(device.capacityBytes, diskCapacity)
    const room = Math.min(capacity - used, free) - device.reserved - device.reservedBytes
    return { capacity, used, copies, available: Math.max(0, room) }
  })

/** Counts a device's copies from its cells. */
export const countCopies = (hold: FileHold): { readonly used: number; readonly copies: number } => {
  let used = 0
  let copies = 0
  for (const [key, cell] of hold.cells) {
    if (key.endsWith("/head")) copies += 1
    else if (key.startsWith("c/")) used += cell.bytes.length
  }
  return { used, copies }
}

const finish = (device: HeldDevice, chunk: ChunkName, parts: ReadonlyArray<Uint8Array>) =>
  Effect.gen(function* () {
    yield* whileOpen(device)
    const bytes = Buffer.concat(parts)
    const description: ChunkDescription = { ...chunk, length: bytes.length, checksum: crc32(bytes) }
    if (device.hold.cells.has(headKey(chunk))) {
      const found = yield* Effect.option(describe(device, chunk))
      const isSame =
        Option.isSome(found) &&
        found.value.length === description.length &&
        found.value.checksum === description.checksum
      if (!isSame) {
        const message = `${words(chunk)} is here with other bytes: versions are never used twice`
        return yield* deviceError(device, "exists", message)
      }
    }
    const isNew = !device.hold.cells.has(headKey(chunk))
    yield* onDisk(device, device.hold.write(copyWrites(description, bytes)))
    if (isNew) {
      device.used += bytes.length
      device.copies += 1
    }
    return description
  })

const begin = (device: HeldDevice): OpenDevice["begin"] =>
  Effect.fnUntraced(function* ({ chunk, expectedBytes }) {
    yield* whileOpen(device)
    const { available } = yield* usageOf(device)
    if (expectedBytes > available) {
      const message = `${expectedBytes} bytes are wanted, ${available} may be written`
      return yield* deviceError(device, "full", message)
    }
    device.reserved += expectedBytes
    let isWriting = true
    const end = Effect.sync(() => {
      if (isWriting) device.reserved -= expectedBytes
      isWriting = false
    })
    yield* Effect.addFinalizer(() => end)
    const parts: Array<Uint8Array> = []
    let length = 0
    const stillWriting = Effect.suspend(() =>
      isWriting
        ? whileOpen(device)
        : Effect.fail(deviceError(device, "closed", "this write has ended"))
    )
    const writer: ChunkWriter = {
      write: Effect.fnUntraced(function* (bytes) {
        yield* stillWriting
        if (length + bytes.length > expectedBytes) {
          yield* end
          const message = `more than the expected ${expectedBytes} bytes`
          return yield* deviceError(device, "out-of-range", message)
        }
        length += bytes.length
        parts.push(bytes.slice())
      }),
      finish: Effect.andThen(
        stillWriting,
        Effect.suspend(() => Effect.ensuring(finish(device, chunk, parts), end))
      )
    }
    return writer
  })

const removedBytes = (hold: FileHold, writes: ReadonlyArray<CellWrite>): number =>
  writes.reduce(
    (sum, [key]) => sum + (key.endsWith("/head") ? 0 : (hold.cells.get(key)?.bytes.length ?? 0)),
    0
  )

const remove = (device: HeldDevice, chunk: ChunkName) =>
  Effect.gen(function* () {
    yield* whileOpen(device)
    const writes = removalWrites(device.hold.cells, chunk)
    if (writes.length === 0) {
      const message = `${words(chunk)} is not on this device`
      return yield* deviceError(device, "not-found", message)
    }
    const length = removedBytes(device.hold, writes)
    yield* onDisk(device, device.hold.write(writes))
    device.used -= length
    device.copies -= 1
  })

const list = (device: HeldDevice): OpenDevice["list"] =>
  Stream.unwrap(
    Effect.map(whileOpen(device), () => {
      const heads = sortedKeys(device.hold.cells, "c/").filter((key) => key.endsWith("/head"))
      return Stream.fromArray(heads).pipe(
        Stream.map((key): StoredCopy => {
          const bytes = intactBytes(device.hold.cells, key)
          const description = bytes === undefined ? Option.none() : headValue.decode(bytes)
          return Option.isSome(description)
            ? { _tag: "Intact", ...description.value }
            : { _tag: "Damaged", file: key, reason: "its head is damaged" }
        })
      )
    })
  )

/** Opens a held device; it closes with the scope. */
export const openHeldDevice = (
  device: HeldDevice,
  epoch: number
): Effect.Effect<OpenDevice, never, Scope.Scope> =>
  Effect.as(
    Effect.addFinalizer(() =>
      Effect.sync(() => {
        device.isOpen = false
      })
    ),
    {
      identity: device.identity,
      epoch,
      usage: Effect.andThen(whileOpen(device), usageOf(device)),
      begin: begin(device),
      describe: (chunk) => Effect.andThen(whileOpen(device), describe(device, chunk)),
      read: read(device),
      verify: (chunk) => verify(device, chunk),
      remove: (chunk) => remove(device, chunk),
      list: list(device)
    }
  )
