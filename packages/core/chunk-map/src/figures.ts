/**
 * Numbers of each device that change with every command, as columns of one array.
 *
 * The digest columns follow what the map believes the device holds; a report under way builds the
 * second set of them, which takes the place of the first when the report is complete.
 */
import { digestHigh, digestLow, type Digest } from "./digest.ts"
import type { ChunkVersion } from "./identity.ts"

/** Bytes reserved by open leases. */
export const COMMITTED = 0
/** What the copies that the device writes for repair now take of its slots, in sixteenths. */
export const LOAD_IN = 1
/** The bytes of those copies. */
export const BYTES_IN = 2
/** What the copies that the device is read for now take of its slots, in sixteenths. */
export const LOAD_OUT = 3
/** Deletions told and not acknowledged. */
export const DELETIONS_TOLD = 4
/** All deletions that are due. */
export const DELETIONS = 5
/** Unknown copies. */
export const QUARANTINED = 6
/** The digest of what it holds. */
const LOW = 7
/** Copies of versions that the journal never gave out. */
export const FUTURE = 10
/** The bytes of those copies. */
export const FUTURE_BYTES = 11
const REPORTED_LOW = 12
const REPORTED_FUTURE = 15
const COLUMNS = 17

/** A scoped batch of edits of the figures. */
export class FiguresEdit {
  #values: Float64Array
  #owned = false

  constructor(base: Float64Array) {
    this.#values = base
  }

  /** A figure of a device; 0 for one that has none yet. */
  get(device: number, column: number): number {
    return this.#values[device * COLUMNS + column] ?? 0
  }

  /** Adds to a figure of a device. */
  add(device: number, column: number, change: number): void {
    const at = device * COLUMNS + column
    if (!this.#owned) this.#own()
    while (at >= this.#values.length) {
      const values = new Float64Array(Math.max(COLUMNS * 4, this.#values.length * 2))
      values.set(this.#values)
      this.#values = values
    }
    this.#values[at]! += change
  }

  /** Sets a figure of a device to zero. */
  clear(device: number, column: number): void {
    this.add(device, column, -this.get(device, column))
  }

  /** The digest of what the map believes that the device holds. */
  digest(device: number): Digest {
    return {
      low: this.get(device, LOW),
      high: this.get(device, LOW + 1),
      count: this.get(device, LOW + 2)
    }
  }

  /** Counts a copy in or out of the digest; `reported` is the one of the report under way. */
  hold(device: number, copy: ChunkVersion, change: 1 | -1, reported: boolean): void {
    const { fileId, chunkId, version } = copy
    const low = digestLow(fileId, chunkId, version)
    const high = digestHigh(fileId, chunkId, version)
    this.holdHashed(device, { low, high, count: 1 }, change, reported)
  }

  /** Counts copies in or out of the digest whose digest is known. */
  holdHashed(device: number, copies: Digest, change: 1 | -1, reported: boolean): void {
    const column = reported ? REPORTED_LOW : LOW
    this.add(device, column + 2, change * copies.count)
    const values = this.#values
    const at = device * COLUMNS + column
    values[at] = (values[at]! + change * copies.low) >>> 0
    values[at + 1] = (values[at + 1]! + change * copies.high) >>> 0
  }

  /** Counts a copy of a version that the journal never gave out. */
  holdFuture(device: number, length: number, reported: boolean): void {
    const at = reported ? REPORTED_FUTURE : FUTURE
    this.add(device, at, 1)
    this.add(device, at + 1, length)
  }

  /** Starts the figures of a report. */
  beginReport(device: number): void {
    for (let column = REPORTED_LOW; column < COLUMNS; column++) this.clear(device, column)
  }

  /** Puts the figures of a complete report in place. */
  finishReport(device: number): void {
    for (let column = 0; column < 3; column++) {
      this.#move(device, REPORTED_LOW + column, LOW + column)
    }
    this.#move(device, REPORTED_FUTURE, FUTURE)
    this.#move(device, REPORTED_FUTURE + 1, FUTURE_BYTES)
  }

  /** Forgets what the device holds. */
  forgetHeld(device: number): void {
    for (let column = LOW; column <= FUTURE_BYTES; column++) this.clear(device, column)
  }

  /** The edited figures. */
  seal(): Float64Array {
    return this.#values
  }

  #own(): void {
    this.#values = this.#values.slice()
    this.#owned = true
  }

  #move(device: number, source: number, target: number): void {
    const value = this.get(device, source)
    this.clear(device, target)
    this.add(device, target, value)
    this.clear(device, source)
  }
}
