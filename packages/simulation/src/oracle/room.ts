/**
 * Whether what is reserved fits, by this oracle's own book of reservations.
 *
 * | invariant | what must hold |
 * |---|---|
 * | overcommitted | what is reserved on a device fits into the room that it has said |
 *
 * A reservation stands from its answer until a commit or an end of it is asked for, its chunk is
 * freed, its time is over, or the service that gave it has died. What a device says reaches the
 * service some time after it is so: the larger of its last two words counts.
 */
import type { ChunkName } from "@holdfast/storage"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import type { Allotted, Heartbeat } from "../cluster/watch.ts"
import type { Oracle } from "./oracle.ts"

interface Reservation {
  readonly chunk: ChunkName
  readonly devices: ReadonlyArray<string>
  readonly size: number
  readonly untilMillis: number
}

/** The book of reservations, and what devices said of their room. */
class Book {
  readonly #open = new Map<string, Reservation>()
  readonly #said = new Map<string, readonly [last: number, before: number]>()
  /** Opened or ended before: an answer that is repeated gives nothing away. */
  readonly #known = new Set<string>()
  readonly #cluster: SimulatedCluster

  constructor(cluster: SimulatedCluster) {
    this.#cluster = cluster
  }

  get #now(): number {
    return this.#cluster.site.time.nowMicros / 1_000
  }

  hear({ devices }: Heartbeat): void {
    for (const { available, deviceId } of devices) {
      this.#said.set(deviceId, [available, this.#said.get(deviceId)?.[0] ?? available])
    }
  }

  open({ chunk, expiresAfterMs, lease, targets }: Allotted, size: number): void {
    if (this.#known.has(lease)) return
    this.#known.add(lease)
    const devices = targets.map(({ deviceId }) => deviceId)
    this.#open.set(lease, { chunk, devices, size, untilMillis: this.#now + expiresAfterMs })
    for (const device of devices) this.#judge(device)
  }

  end(lease: string): void {
    this.#known.add(lease)
    this.#open.delete(lease)
  }

  free({ chunkId, fileId }: ChunkName): void {
    for (const [lease, { chunk }] of this.#open) {
      if (chunk.fileId === fileId && chunk.chunkId === chunkId) this.#open.delete(lease)
    }
  }

  /** Reservations die with the process that gave them. */
  clear(): void {
    this.#open.clear()
    this.#said.clear()
  }

  #judge(device: string): void {
    const said = this.#said.get(device)
    if (said === undefined) return
    let reserved = 0
    for (const [lease, { devices, size, untilMillis }] of this.#open) {
      if (untilMillis <= this.#now) this.#open.delete(lease)
      else if (devices.includes(device)) reserved += size
    }
    const room = Math.max(...said)
    if (reserved <= room) return
    const message = `${reserved} bytes are reserved on ${device}, which has room for ${room}`
    this.#cluster.site.report("overcommitted", message)
  }
}

/** Judges reservations. */
export const makeRoomOracle = (cluster: SimulatedCluster): Oracle => {
  const book = new Book(cluster)
  return {
    watch: {
      heartbeatAnswered: (heartbeat) => book.hear(heartbeat),
      chunkAllotted: (allotted, size) => book.open(allotted, size),
      leaseEnding: (lease) => book.end(lease),
      journalAppended: (entries) => {
        for (const entry of entries) if (entry._tag === "Freed") book.free(entry)
      },
      journalRecovered: () => book.clear()
    }
  }
}
