/**
 * A disk as a value that outlives the service that writes to it.
 *
 *     write ──▶ pending ──sync──▶ cells (survive) ──▶ the next process that holds the file
 *                  └── crash: kept, torn or lost
 *
 * 1. A write is answered when its cells, and those of all earlier writes of its file, are synced.
 * 2. A write changes all its cells or none; only a crash can tear one, and then only its last cell.
 * 3. One holder a file at a time; a crash ends all holders, and nothing they write later counts.
 * 4. A refused write changes nothing.
 */
import { Data, Effect, Random, type Scope } from "effect"
import {
  type Cell,
  type Cells,
  type CellWrite,
  flippedCell,
  makeCell,
  sizeChange,
  sortedKeys,
  tornCell
} from "./cells.ts"
import type { DiskFault } from "./disk-fault.ts"

/** Why the disk refused: no room, an I/O error or a process that is gone, a file held already. */
export class DiskRefusal extends Data.TaggedError("DiskRefusal")<{
  readonly code: "full" | "unavailable" | "locked"
  readonly message: string
}> {}

/** A process's hold of one file. */
export interface FileHold {
  /** The synced content; only the disk changes it. */
  readonly cells: ReadonlyMap<string, Cell>
  readonly write: (writes: ReadonlyArray<CellWrite>) => Effect.Effect<void, DiskRefusal>
  /** Fails where a read would fail; the content is then read from `cells`. */
  readonly readable: Effect.Effect<void, DiskRefusal>
}

/** A disk of files; see the module comment. */
export interface MemoryDisk {
  readonly apply: (fault: DiskFault) => Effect.Effect<void>
  /** Holds a file, made when there is none, until the scope closes or the disk crashes. */
  readonly hold: (file: string) => Effect.Effect<FileHold, DiskRefusal, Scope.Scope>
  readonly usage: Effect.Effect<{ readonly capacity: number; readonly used: number }>
  /** The cell keys of a file in order, to aim a fault at. */
  readonly keys: (file: string) => Effect.Effect<ReadonlyArray<string>>
  /** A file becomes a copy of these cells, as on a cloned disk; without cells it is gone. */
  readonly replace: (file: string, cells: ReadonlyMap<string, Cell>) => void
  /** The synced cells of a file, whoever holds it: for those who judge what is durable. */
  readonly cells: (file: string) => ReadonlyMap<string, Cell>
}

interface PendingWrite {
  readonly file: string
  readonly writes: ReadonlyArray<CellWrite>
  readonly change: number
  /** Undefined while pending; false when a crash lost it. */
  isDone: boolean | undefined
}

interface DiskState {
  readonly random: Random.Random
  readonly files: Map<string, Cells>
  readonly holders: Map<string, symbol>
  /** Each file's unsynced writes, in the order in which they were issued. */
  readonly pending: Map<string, Array<PendingWrite>>
  /** The bytes by which the pending writes will change what is used. */
  promised: number
  capacity: number
  used: number
  failingWrites: number
  failingReads: number
  syncMillis: number
}

const refuse = (code: DiskRefusal["code"], message: string): DiskRefusal =>
  new DiskRefusal({ code, message })

const cellsOf = (state: DiskState, file: string): Cells => {
  const known = state.files.get(file)
  if (known !== undefined) return known
  const cells: Cells = new Map()
  state.files.set(file, cells)
  return cells
}

const pendingOf = (state: DiskState, file: string): Array<PendingWrite> => {
  const known = state.pending.get(file)
  if (known !== undefined) return known
  const queue: Array<PendingWrite> = []
  state.pending.set(file, queue)
  return queue
}

const applyWrite = (state: DiskState, pending: PendingWrite): void => {
  const cells = cellsOf(state, pending.file)
  state.used += sizeChange(cells, pending.writes)
  for (const [key, bytes] of pending.writes) {
    if (bytes === undefined) cells.delete(key)
    else cells.set(key, makeCell(bytes))
  }
  pending.isDone = true
}

/** Syncs a write and every earlier one of its file, as an fsync does. */
const syncThrough = (state: DiskState, write: PendingWrite): void => {
  const queue = pendingOf(state, write.file)
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    state.promised -= next.change
    applyWrite(state, next)
    if (next === write) return
  }
}

const replaceCell = (state: DiskState, file: string, key: string, cell: Cell): void => {
  const cells = cellsOf(state, file)
  state.used += cell.bytes.length - (cells.get(key)?.bytes.length ?? 0)
  cells.set(key, cell)
}

const tearLast = (state: DiskState, file: string): void => {
  const cells = cellsOf(state, file)
  const last = sortedKeys(cells, "").at(-1)
  const cell = last === undefined ? undefined : cells.get(last)
  if (last !== undefined && cell !== undefined) replaceCell(state, file, last, tornCell(cell))
}

/** Keeps a prefix of a file's pending writes by chance; the next one may be torn. */
const crashFile = (state: DiskState, file: string, queue: ReadonlyArray<PendingWrite>): void => {
  for (const pending of queue) pending.isDone = false
  for (const pending of queue) {
    const drawn = state.random.nextDoubleUnsafe()
    if (drawn < 1 / 3) {
      applyWrite(state, pending)
      pending.isDone = false
      continue
    }
    const [key, bytes] = pending.writes.at(-1) ?? ["", undefined]
    const isAppend = pending.writes.length === 1 && !cellsOf(state, file).has(key)
    if (drawn < 2 / 3 && isAppend && bytes !== undefined) {
      replaceCell(state, file, key, tornCell(makeCell(bytes)))
    }
    return
  }
}

const crash = (state: DiskState): void => {
  for (const [file, queue] of state.pending) crashFile(state, file, queue)
  state.pending.clear()
  state.promised = 0
  state.holders.clear()
}

const replaceFile = (state: DiskState, file: string, cells: ReadonlyMap<string, Cell>): void => {
  const own = cellsOf(state, file)
  for (const { bytes } of own.values()) state.used -= bytes.length
  own.clear()
  for (const [key, cell] of cells) {
    own.set(key, cell)
    state.used += cell.bytes.length
  }
}

const applyFault = (state: DiskState, fault: DiskFault): void => {
  switch (fault._tag) {
    case "Capacity":
      state.capacity = fault.bytes
      return
    case "FailWrites":
      state.failingWrites = fault.count
      return
    case "FailReads":
      state.failingReads = fault.count
      return
    case "SyncMillis":
      state.syncMillis = fault.millis
      return
    case "FlipBit": {
      const cell = cellsOf(state, fault.file).get(fault.key)
      if (cell === undefined) return
      return replaceCell(state, fault.file, fault.key, flippedCell(cell, fault.byte, fault.bit))
    }
    case "TearLast":
      return tearLast(state, fault.file)
    case "Crash":
      return crash(state)
  }
}

const write = (state: DiskState, file: string, isHeld: () => boolean): FileHold["write"] =>
  Effect.fnUntraced(function* (writes) {
    if (!isHeld()) return yield* refuse("unavailable", "this process no longer holds the file")
    if (state.failingWrites > 0) {
      state.failingWrites -= 1
      return yield* refuse("unavailable", "the disk answered an I/O error to a write")
    }
    const change = sizeChange(cellsOf(state, file), writes)
    if (change > 0 && state.used + state.promised + change > state.capacity) {
      return yield* refuse("full", `no room for ${change} bytes in ${state.capacity}`)
    }
    const pending: PendingWrite = { file, writes, change, isDone: undefined }
    pendingOf(state, file).push(pending)
    state.promised += change
    yield* state.syncMillis > 0 ? Effect.sleep(state.syncMillis) : Effect.yieldNow
    if (pending.isDone === undefined) syncThrough(state, pending)
    if (pending.isDone === false) {
      return yield* refuse("unavailable", "the process crashed before the write was synced")
    }
  }, Effect.uninterruptible)

const hold = (state: DiskState): MemoryDisk["hold"] =>
  Effect.fnUntraced(function* (file) {
    if (state.holders.has(file)) {
      return yield* refuse("locked", `another process holds ${file}`)
    }
    const holder = Symbol(file)
    const isHeld = (): boolean => state.holders.get(file) === holder
    state.holders.set(file, holder)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        if (isHeld()) state.holders.delete(file)
      })
    )
    const readable = Effect.suspend(() => {
      if (!isHeld()) {
        return Effect.fail(refuse("unavailable", "this process no longer holds the file"))
      }
      if (state.failingReads === 0) return Effect.void
      state.failingReads -= 1
      return Effect.fail(refuse("unavailable", "the disk answered an I/O error to a read"))
    })
    const fileHold: FileHold = {
      cells: cellsOf(state, file),
      write: write(state, file, isHeld),
      readable
    }
    return fileHold
  })

const make = Effect.fnUntraced(function* (options: { readonly capacity?: number } = {}) {
  const seed = yield* Random.nextInt
  const state: DiskState = {
    random: yield* Random.Random.pipe(Random.withSeed(seed)),
    files: new Map(),
    holders: new Map(),
    pending: new Map(),
    promised: 0,
    capacity: options.capacity ?? Number.MAX_SAFE_INTEGER,
    used: 0,
    failingWrites: 0,
    failingReads: 0,
    syncMillis: 0
  }
  const disk: MemoryDisk = {
    apply: (fault) => Effect.sync(() => applyFault(state, fault)),
    hold: hold(state),
    usage: Effect.sync(() => ({ capacity: state.capacity, used: state.used })),
    keys: (file) => Effect.sync(() => sortedKeys(cellsOf(state, file), "")),
    replace: (file, cells) => replaceFile(state, file, cells),
    cells: (file) => cellsOf(state, file)
  }
  return disk
})

/** Makes disks. */
export const MemoryDisk = {
  /** An empty disk without faults; its chance is drawn from the calling fiber's randomness. */
  make
}
