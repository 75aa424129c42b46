/**
 * The history of committed chunks, as the journal tells it.
 *
 * | invariant | what must hold |
 * |---|---|
 * | version-reused | no version is committed twice, with other bytes or for another chunk |
 * | version-fell | a chunk's committed versions rise, and stay above what was freed |
 * | fact-forgotten | a restart finds every committed and every freed version again |
 * | deleted-below-goal | no copy of the current version goes while fewer others than the goal are there |
 * | last-copy-deleted | and never the last one that is intact |
 */
import { type DurableCopy, durableCopies } from "@holdfast/adapter-memory"
import type { JournalEntry } from "@holdfast/chunk-map"
import type { ChunkName } from "@holdfast/storage"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import { directoryOf } from "../cluster/nodes.ts"
import type { Report } from "../violation.ts"
import type { Oracle } from "./oracle.ts"

/** A committed version. */
export interface Committed extends ChunkName {
  readonly goal: number
  readonly length: number
  readonly checksum: number
}

/** What is committed and what was freed. */
export interface ChunkHistory {
  readonly oracle: Oracle
  /** The committed chunks that were not freed. */
  readonly current: () => ReadonlyArray<Committed>
  /** Whether this version, or a later one of its chunk, was freed. */
  readonly isFreed: (chunk: ChunkName) => boolean
  /** Whether this version was ever committed. */
  readonly wasCommitted: (chunk: ChunkName) => boolean
}

const keyOf = ({ chunkId, fileId }: { readonly fileId: number; readonly chunkId: number }) =>
  `${fileId}/${chunkId}`

const nameOf = (chunk: ChunkName): string => `${keyOf(chunk)}@${chunk.version}`

/** The copies of a version, with the device that has each. */
export const copiesOf = (
  cluster: SimulatedCluster,
  chunk: ChunkName
): ReadonlyArray<DurableCopy & { readonly device: string }> =>
  cluster.devices.flatMap((device) =>
    durableCopies(cluster.site.disk(device).cells(directoryOf(device)))
      .filter(
        ({ chunkId, fileId, version }) =>
          fileId === chunk.fileId && chunkId === chunk.chunkId && version === chunk.version
      )
      .map((copy) => ({ ...copy, device }))
  )

class Facts {
  readonly committed = new Map<string, Committed>()
  readonly freed = new Map<string, number>()
  readonly #bytesOfVersion = new Map<number, string>()
  readonly #report: Report

  constructor(report: Report) {
    this.#report = report
  }

  fold(entries: ReadonlyArray<JournalEntry>): void {
    for (const entry of entries) {
      if (entry._tag === "Committed") this.#commit(entry)
      if (entry._tag === "Freed") this.#free(entry)
    }
  }

  wasCommitted(version: number): boolean {
    return this.#bytesOfVersion.has(version)
  }

  #commit(entry: Committed): void {
    const key = keyOf(entry)
    const bytes = `${key} ${entry.length} ${entry.checksum}`
    const known = this.#bytesOfVersion.get(entry.version)
    if (known !== undefined && known !== bytes) {
      this.#report("version-reused", `version ${entry.version} is ${known} and ${bytes}`)
    }
    this.#bytesOfVersion.set(entry.version, bytes)
    const before = this.committed.get(key)?.version ?? 0
    const freed = this.freed.get(key) ?? 0
    if (entry.version < before || entry.version <= freed) {
      const message = `${nameOf(entry)} is committed after ${before}, freed up to ${freed}`
      this.#report("version-fell", message)
    }
    this.committed.set(key, entry)
  }

  #free(entry: ChunkName): void {
    const key = keyOf(entry)
    this.freed.set(key, Math.max(entry.version, this.freed.get(key) ?? 0))
    const committed = this.committed.get(key)
    if (committed !== undefined && committed.version <= entry.version) this.committed.delete(key)
  }

  /** What a restart found must hold everything that was answered before. */
  compare(recovered: Facts): void {
    for (const [key, { version }] of this.committed) {
      const found = recovered.committed.get(key)?.version ?? 0
      const freed = recovered.freed.get(key) ?? 0
      if (found >= version || freed >= version) continue
      this.#report("fact-forgotten", `${key}@${version} was committed, a restart finds ${found}`)
    }
    for (const [key, version] of recovered.committed) {
      if (version.version > (this.freed.get(key) ?? 0)) continue
      this.#report("fact-forgotten", `${nameOf(version)} was freed, a restart finds it again`)
    }
  }

  /** What was written and not answered may be there, too: from now on it is a fact. */
  adopt(recovered: Facts): void {
    for (const freed of recovered.freed) {
      const [fileId = 0, chunkId = 0] = freed[0].split("/").map(Number)
      this.#free({ fileId, chunkId, version: freed[1] })
    }
    for (const [key, entry] of recovered.committed) {
      if (this.committed.get(key)?.version !== entry.version) this.#commit(entry)
    }
  }
}

const judgeRemoval = (
  cluster: SimulatedCluster,
  facts: Facts,
  device: string,
  chunk: ChunkName
) => {
  const committed = facts.committed.get(keyOf(chunk))
  if (committed === undefined || committed.version !== chunk.version) return
  const copies = copiesOf(cluster, chunk)
  const own = copies.find((copy) => copy.device === device)
  if (own === undefined || !own.isIntact) return
  const others = copies.filter((copy) => copy.device !== device)
  const where = `${nameOf(chunk)} leaves ${device}, ${others.length} others hold it`
  if (others.length < committed.goal) {
    cluster.site.report("deleted-below-goal", `${where}, the goal is ${committed.goal}`)
  }
  if (!others.some(({ isIntact }) => isIntact)) {
    cluster.site.report("last-copy-deleted", `${where}, none of them intact`)
  }
}

/** Follows a cluster's journal and its devices. */
export const makeChunkHistory = (cluster: SimulatedCluster): ChunkHistory => {
  const facts = new Facts(cluster.site.report)
  return {
    current: () => [...facts.committed.values()],
    isFreed: (chunk) => (facts.freed.get(keyOf(chunk)) ?? 0) >= chunk.version,
    wasCommitted: ({ version }) => facts.wasCommitted(version),
    oracle: {
      watch: {
        journalAppended: (entries) => facts.fold(entries),
        journalRecovered: (entries) => {
          const recovered = new Facts(cluster.site.report)
          recovered.fold(entries)
          facts.compare(recovered)
          facts.adopt(recovered)
        },
        copyRemoved: (device, chunk) => judgeRemoval(cluster, facts, device, chunk)
      }
    }
  }
}
