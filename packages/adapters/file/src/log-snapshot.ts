/**
 * Writes a snapshot: aside, in slices, and under its name when all of it is durable.
 *
 *     parts ─▶ snapshot-<g>.draft ─▶ sync ─▶ rename to snapshot-<g> ─▶ sync of the directory
 *
 * Until the rename the snapshot before it and every log since count; a crash or a failure leaves
 * at most a draft.
 */
import type { DiskFile } from "./chunk-device-disk.ts"
import { removeIfThere } from "./durable-file.ts"
import { encodeBatch } from "./log-batch.ts"
import { draftOf, headBatch, logPath, type LogPlace } from "./log-files.ts"
import type { WithRoom } from "./log-writer.ts"

/** Bytes that one write carries. */
const SLICE_BYTES = 4_194_304

const writeParts = async (
  file: DiskFile,
  head: Buffer,
  parts: Iterable<Uint8Array>,
  withRoom: WithRoom
): Promise<void> => {
  let slice: Array<Buffer> = [head]
  let sliceBytes = head.length
  let position = 0
  let count = 0
  const writeSlice = async () => {
    const bytes = slice.length === 1 ? (slice[0] ?? head) : Buffer.concat(slice)
    await withRoom(bytes.length, () => file.write(bytes, position))
    position += bytes.length
    slice = []
    sliceBytes = 0
  }
  for (const part of parts) {
    count += 1
    const batch = encodeBatch("part", count, [part])
    slice.push(batch)
    sliceBytes += batch.length
    if (sliceBytes >= SLICE_BYTES) await writeSlice()
  }
  slice.push(encodeBatch("end", count + 1, []))
  await writeSlice()
}

/** Writes the snapshot of a generation; it counts when this ends. */
export const writeSnapshot = async (
  place: LogPlace,
  generation: number,
  parts: Iterable<Uint8Array>,
  withRoom: WithRoom
): Promise<void> => {
  const { disk } = place
  const path = logPath(place, "snapshot", generation)
  const head = headBatch(place, { kind: "snapshot", generation, first: 1 })
  await removeIfThere(disk, draftOf(path))
  const file = await disk.create(draftOf(path))
  try {
    try {
      await writeParts(file, head, parts, withRoom)
      await file.sync()
    } finally {
      await file.close()
    }
  } catch (cause) {
    await removeIfThere(disk, draftOf(path))
    throw cause
  }
  await disk.rename(draftOf(path), path)
  await disk.syncDirectory(place.directory)
}
