/**
 * The invariants of a state, each judged by a recount.
 *
 * | rule | what must hold |
 * |---|---|
 * | order | chunks rise strictly, no leaf or branch is empty, the size is right |
 * | marks | no version and no file id at or above the marks is committed or leased |
 * | counts | the histogram of sets and goals equals a recount |
 * | one-slot | no set names two present slots of one device |
 * | figures | reserved bytes, copies under way and deletions of each device equal a recount |
 * | digest | the digest of each serving device equals a recount of what the map says it holds |
 * | deletion | no copy is in a replica set and being deleted; a freed version is not committed |
 * | freed | unacknowledged deletions of each freed chunk equal a recount |
 */
import { copyLoad } from "./copy-load.ts"
import { eachCount } from "./counts.ts"
import { digestAdd, digestEquals, emptyDigest, type Digest } from "./digest.ts"
import {
  BYTES_IN,
  COMMITTED,
  DELETIONS,
  DELETIONS_TOLD,
  FiguresEdit,
  LOAD_IN,
  LOAD_OUT
} from "./figures.ts"
import type { ChunkVersion } from "./identity.ts"
import type { State } from "./model.ts"
import { mapEntries, mapGet } from "./ordered-map.ts"
import {
  advance,
  findRecord,
  newCursor,
  rowRecord,
  seekFrom,
  type ChunkRecord
} from "./packed-tree.ts"

/** A broken rule and what shows it. */
export interface Violation {
  readonly rule:
    | "order"
    | "marks"
    | "counts"
    | "one-slot"
    | "figures"
    | "digest"
    | "deletion"
    | "freed"
  readonly message: string
}

/**
 * Judges a state. With more than `chunksMax` chunks only the rules that need no pass over all of
 * them are judged. O(chunks + everything else).
 */
export const invariants = (
  state: State,
  options: { readonly chunksMax: number } = { chunksMax: Number.MAX_SAFE_INTEGER }
): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const report = (rule: Violation["rule"], message: string) => violations.push({ rule, message })
  judgeFigures(state, report)
  judgeDeletions(state, report)
  judgeLeases(state, report)
  if (state.chunks.size <= options.chunksMax) judgeChunks(state, report)
  return violations
}

type Report = (rule: Violation["rule"], message: string) => void

const judgeLeases = (state: State, report: Report): void => {
  if (state.nextVersion > state.versionLimit || state.nextFileId > state.fileIdLimit) {
    report("marks", "numbers were given out above the durable marks")
  }
  for (const [version] of mapEntries(state.leases)) {
    if (version >= state.nextVersion) report("marks", `lease ${version} was never given out`)
  }
}

const judgeFigures = (state: State, report: Report): void => {
  const figures = new FiguresEdit(state.figures)
  const recount = new FiguresEdit(new Float64Array(0))
  for (const [, lease] of mapEntries(state.leases)) {
    for (const device of lease.devices) recount.add(device, COMMITTED, lease.size)
  }
  for (const [key, job] of mapEntries(state.copyJobs)) {
    const load = copyLoad(state.settings, job.length)
    recount.add(key.device, LOAD_IN, load)
    recount.add(key.device, BYTES_IN, job.length)
    recount.add(job.source, LOAD_OUT, load)
  }
  for (const [key, deletion] of mapEntries(state.deletions)) {
    recount.add(key.device, DELETIONS, 1)
    if (deletion.commandId !== 0) recount.add(key.device, DELETIONS_TOLD, 1)
  }
  const columns = [COMMITTED, LOAD_IN, BYTES_IN, LOAD_OUT, DELETIONS, DELETIONS_TOLD]
  state.deviceNames.forEach((name, index) => {
    for (const column of columns) {
      const kept = figures.get(index, column)
      const counted = recount.get(index, column)
      if (kept !== counted) {
        report("figures", `${name}: column ${column} says ${kept}, a recount ${counted}`)
      }
    }
  })
}

const judgeDeletions = (state: State, report: Report): void => {
  const pending = new Map<string, number>()
  for (const [key, deletion] of mapEntries(state.deletions)) {
    const record = findRecord(state.chunks, key)
    const slot = mapGet(state.devices, state.deviceNames[key.device] ?? "")?.slot ?? -1
    const named = `${key.fileId}/${key.chunkId} version ${key.version}`
    if (record?.version === key.version && slot >= 0 && state.sets.has(record.set, slot)) {
      report("deletion", `${named} counts on ${state.deviceNames[key.device]} and is being deleted`)
    }
    if (record?.version === key.version && deletion.reason === "freed") {
      report("deletion", `${named} is committed and its copies are being deleted as freed`)
    }
    if (deletion.reason !== "freed") continue
    const chunk = `${key.fileId}/${key.chunkId}`
    pending.set(chunk, (pending.get(chunk) ?? 0) + 1)
  }
  for (const [key, freed] of mapEntries(state.freed)) {
    const counted = pending.get(`${key.fileId}/${key.chunkId}`) ?? 0
    if (counted !== freed.pending) {
      const chunk = `${key.fileId}/${key.chunkId}`
      report("freed", `${chunk} waits for ${freed.pending} deletions, a recount says ${counted}`)
    }
  }
}

const judgeChunks = (state: State, report: Report): void => {
  const digests = new Map<number, Digest>()
  const hold = (slot: number, copy: ChunkVersion) => {
    const { fileId, chunkId, version } = copy
    digests.set(slot, digestAdd(digests.get(slot) ?? emptyDigest, fileId, chunkId, version))
  }
  const counts = new Map<string, number>()
  const cursor = newCursor()
  let before: ChunkRecord | undefined
  let size = 0
  let here = seekFrom(state.chunks, { fileId: 0, chunkId: 0 }, cursor)
  while (here) {
    const record = rowRecord(cursor.words, cursor.offset)
    const named = `${record.fileId}/${record.chunkId}`
    const rises =
      before === undefined ||
      before.fileId < record.fileId ||
      (before.fileId === record.fileId && before.chunkId < record.chunkId)
    if (!rises) report("order", `${named} does not stand above the chunk before it`)
    if (record.version >= state.versionLimit || record.fileId >= state.fileIdLimit) {
      report("marks", `${named} version ${record.version} is above the durable marks`)
    }
    const histogram = `${record.set}:${record.goal}`
    counts.set(histogram, (counts.get(histogram) ?? 0) + 1)
    for (const slot of state.sets.members(record.set)) hold(slot, record)
    judgeSlots(state, record, report)
    before = record
    size++
    here = advance(state.chunks, cursor)
  }
  if (size !== state.chunks.size) report("order", `size ${state.chunks.size}, a recount ${size}`)
  judgeCounts(state, counts, report)
  judgeDigests(state, digests, hold, report)
}

const judgeSlots = (state: State, record: ChunkRecord, report: Report): void => {
  const seen = new Set<number>()
  for (const slot of state.sets.members(record.set)) {
    const device = state.slots.devices[slot] ?? -1
    if (mapGet(state.devices, state.deviceNames[device] ?? "")?.slot !== slot) continue
    if (seen.has(device))
      report("one-slot", `${record.fileId}/${record.chunkId} names a device twice`)
    seen.add(device)
  }
}

const judgeCounts = (state: State, counts: ReadonlyMap<string, number>, report: Report): void => {
  const left = new Map(counts)
  eachCount(state.counts, (set, goal, chunks) => {
    const counted = left.get(`${set}:${goal}`) ?? 0
    left.delete(`${set}:${goal}`)
    if (counted !== chunks) {
      report("counts", `set ${set} goal ${goal} says ${chunks}, a recount ${counted}`)
    }
  })
  for (const [name, counted] of left) report("counts", `${name} is missing, a recount ${counted}`)
}

const judgeDigests = (
  state: State,
  digests: ReadonlyMap<number, Digest>,
  hold: (slot: number, copy: ChunkVersion) => void,
  report: Report
): void => {
  for (const [key, copies] of mapEntries(state.odd)) {
    for (const copy of copies) hold(copy.slot, { ...key, version: copy.version })
  }
  for (const [key, unknown] of mapEntries(state.quarantine)) hold(unknown.slot, key)
  for (const [key, deletion] of mapEntries(state.deletions)) hold(deletion.heldBy, key)
  if (state.quarantineOverflow > 0) return
  const figures = new FiguresEdit(state.figures)
  for (const [name, device] of mapEntries(state.devices)) {
    if (!device.serving) continue
    const kept = figures.digest(device.index)
    const counted = digests.get(device.slot) ?? emptyDigest
    if (!digestEquals(kept, counted)) {
      report("digest", `${name} holds ${kept.count} copies, a recount says ${counted.count}`)
    }
  }
}
