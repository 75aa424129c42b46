/** What the server has to tell the metadata service, and the bell that makes it tell soon. */
import type { MetadataChunkServerOperations } from "@holdfast/wire"
import type { ChunkDescription } from "@holdfast/storage"
import { Latch } from "effect"
import { makeOutbox, type Outbox } from "./outbox.ts"
import { type BadCopy, noteBad, type ServedDevice } from "./served-device.ts"

type CommandOutcome = MetadataChunkServerOperations.CommandOutcome
type CopyChange = MetadataChunkServerOperations.CopyChange

/** Items of each kind that one heartbeat carries. */
const batchMax = 1_000
/** Items of each kind that wait while the metadata service is away. */
const itemsMax = 100_000

/** What waits to be told. */
export interface Telling {
  readonly outcomes: Outbox<CommandOutcome>
  readonly changes: Outbox<CopyChange>
  /** Open while something waits that no heartbeat carried. */
  readonly hasNews: Latch.Latch
}

/** Nothing to tell yet. */
export const makeTelling = (): Telling => ({
  outcomes: makeOutbox({ batchMax, itemsMax }),
  changes: makeOutbox({ batchMax, itemsMax }),
  hasNews: Latch.makeUnsafe(false)
})

/** Tells what became of a command. */
export const tellOutcome = (telling: Telling, outcome: CommandOutcome): void => {
  telling.outcomes.put(outcome)
  telling.hasNews.openUnsafe()
}

/** Tells of a new copy. */
export const tellAdded = (
  telling: Telling,
  device: ServedDevice,
  chunk: ChunkDescription
): void => {
  const { deviceId, epoch } = device
  telling.changes.put({ _tag: "Added", deviceId, epoch, chunk })
  telling.hasNews.openUnsafe()
}

const putBad = (telling: Telling, device: ServedDevice, { chunk, reason }: BadCopy): void => {
  const { deviceId, epoch } = device
  telling.changes.put({ _tag: "Bad", deviceId, epoch, chunk, reason })
  telling.hasNews.openUnsafe()
}

/** Tells of a bad copy, once in an opening of the device. */
export const tellBad = (telling: Telling, device: ServedDevice, bad: BadCopy): void => {
  if (noteBad(device, bad)) putBad(telling, device, bad)
}

/**
 * Tells again of every copy that is known to be bad. A full report names them as they are listed,
 * and whoever asked for one may have forgotten, or never taken, what was told before.
 */
export const tellKnownBad = (telling: Telling, device: ServedDevice): void => {
  for (const bad of device.knownBad.values()) putBad(telling, device, bad)
}
