/** A whole cluster in memory, without clock or network: the chunk map and its chunk servers. */
import * as Result from "effect/Result"
import { expect } from "vitest"
import { alloc, createFile } from "../alloc.ts"
import { putDevice } from "../devices.ts"
import { openDraft, sealDraft, type Alarm, type Draft } from "../draft.ts"
import { emptyState } from "../empty-state.ts"
import { heartbeat, type HeartbeatReply } from "../heartbeat.ts"
import { DeviceId, HostId, type ChunkCopy, type ChunkVersion } from "../identity.ts"
import { invariants } from "../invariants.ts"
import type { JournalEntry } from "../journal-entry.ts"
import type { Allocation, Published, State } from "../model.ts"
import { publish, type Receipt } from "../publish.ts"
import { recover } from "../recover.ts"
import type { Refusal } from "../refusal.ts"
import { grantReport, takeReport } from "../report.ts"
import { defaultSettings, type Settings } from "../settings.ts"
import { tick } from "../tick.ts"
import { carryOut, digestOf, nameOf, usedBytes, type Disk, type Server } from "./disks.ts"

/** Settings under which things happen at once. */
export const quickSettings: Settings = {
  ...defaultSettings,
  extensionMs: 0,
  repairDelayMs: 0,
  safeModeThreshold: 1,
  freeBytesMin: 0,
  freeRatioMin: 0,
  massDeathRatio: 1,
  stallMs: 1_000_000_000
}

/** The value of an outcome that must be a success. */
export const succeed = <A>(outcome: Result.Result<A, Refusal>): A => {
  if (Result.isFailure(outcome)) throw new Error(`refused: ${outcome.failure.message}`)
  return outcome.success
}

/** The code of an outcome that must be a refusal. */
export const codeOf = <A>(outcome: Result.Result<A, Refusal>): string =>
  Result.isFailure(outcome) ? outcome.failure.code : "no refusal"

/** A cluster in memory. Every change checks the invariants. */
export class Cluster {
  state: State
  now = 1_000
  readonly journal: Array<JournalEntry> = []
  readonly alarms: Array<Alarm> = []
  readonly servers = new Map<string, Server>()
  readonly settings: Settings
  #random = 1
  #lives = 0

  constructor(settings: Partial<Settings> = {}) {
    this.settings = { ...quickSettings, ...settings }
    this.state = emptyState(this.settings)
  }

  /** Runs commands over a draft, makes its journal durable and checks the invariants. */
  run<A>(body: (draft: Draft) => A): A {
    const draft = openDraft(this.state, this.now)
    const value = body(draft)
    const sealed = sealDraft(draft)
    this.state = sealed.state
    this.journal.push(...sealed.journal)
    this.alarms.push(...sealed.alarms)
    expect(invariants(this.state)).toEqual([])
    return value
  }

  /** Adds a chunk server with one disk a name. */
  addServer(hostId: string, ...deviceIds: ReadonlyArray<string>): Server {
    const server: Server = {
      hostId: HostId.make(hostId),
      incarnation: 1,
      sequence: 0,
      alive: true,
      url: `http://${hostId}`,
      rack: "",
      disks: deviceIds.map((name) => ({
        deviceId: DeviceId.make(name),
        epoch: 1,
        capacity: 1_000_000,
        copies: new Map()
      })),
      outcomes: [],
      changes: [],
      held: [],
      holdCommands: false
    }
    this.servers.set(hostId, server)
    return server
  }

  /** The server of a host. */
  server(hostId: string): Server {
    const server = this.servers.get(hostId)
    if (server === undefined) throw new Error(`no server ${hostId}`)
    return server
  }

  /** The disk of a name. */
  disk(deviceId: string): Disk {
    for (const server of this.servers.values()) {
      for (const disk of server.disks) if (disk.deviceId === deviceId) return disk
    }
    throw new Error(`no disk ${deviceId}`)
  }

  /** Sends one heartbeat of a host without acting on the answer. */
  sign(hostId: string, goodbye = false): Result.Result<HeartbeatReply, Refusal> {
    const server = this.server(hostId)
    server.sequence++
    const beat = {
      hostId: server.hostId,
      incarnation: server.incarnation,
      url: server.url,
      rack: server.rack,
      sequence: server.sequence,
      devices: server.disks.map((disk) => ({
        deviceId: disk.deviceId,
        epoch: disk.epoch,
        capacity: disk.capacity,
        used: usedBytes(disk),
        available: disk.capacity - usedBytes(disk),
        digest: digestOf(disk)
      })),
      outcomes: server.outcomes,
      changes: server.changes,
      goodbye
    }
    server.outcomes = []
    server.changes = []
    return this.run((draft) => heartbeat(draft, beat))
  }

  /** Sends a heartbeat, reports what is wanted and carries out what is told. */
  beat(hostId: string): HeartbeatReply {
    const server = this.server(hostId)
    const reply = succeed(this.sign(hostId))
    for (const wanted of reply.reportsWanted) this.report(hostId, wanted.deviceId, wanted.lease)
    for (const command of reply.commands) {
      if (server.holdCommands) server.held.push(command)
      else this.carryOut(server, command)
    }
    return reply
  }

  /** Carries out one command. */
  carryOut(server: Server, command: HeartbeatReply["commands"][number]): void {
    const name = (index: number) => this.state.deviceNames[index] ?? ""
    carryOut(server, command, name, (index) => this.#reachable(name(index)))
  }

  #reachable(deviceId: string): Disk | undefined {
    const servers = [...this.servers.values()].filter((server) => server.alive)
    return servers.flatMap((server) => server.disks).find((disk) => disk.deviceId === deviceId)
  }

  /** Has a serving device asked for a report, as when its digest is wrong; sends the first part. */
  beginReport(hostId: string): void {
    succeed(this.sign(hostId))
    for (const { deviceId } of this.server(hostId).disks) {
      const wanted = this.run((draft) => {
        const device = draft.devices.get(deviceId)
        if (device?.serving !== true) return null
        putDevice(draft, { ...device, fresh: false })
        return grantReport(draft, { ...device, fresh: false })
      })
      if (wanted !== null) this.report(hostId, deviceId, wanted.lease, 1)
    }
  }

  /** Sends a full report of a disk, or only so many parts of it. */
  report(hostId: string, deviceId: string, lease: number, partsMax = Infinity): void {
    const server = this.server(hostId)
    const disk = this.disk(deviceId)
    const copies = [...disk.copies.values()]
    const partMax = this.settings.reportPartMax
    const parts = Math.max(1, Math.ceil(copies.length / partMax))
    for (let part = 0; part < Math.min(parts, partsMax); part++) {
      const outcome = this.run((draft) =>
        takeReport(draft, {
          hostId,
          incarnation: server.incarnation,
          deviceId,
          epoch: disk.epoch,
          lease,
          reportId: `report-${lease}`,
          part,
          last: part === parts - 1 && parts <= partsMax,
          copies: copies.slice(part * partMax, (part + 1) * partMax)
        })
      )
      succeed(outcome)
    }
  }

  /** Lets time pass in one step. */
  pass(ms: number): void {
    this.now += ms
    this.run(tick)
  }

  /** Heartbeats of all live servers, then a tick, so many times. */
  rounds(count: number, stepMs = 1_000): void {
    for (let round = 0; round < count; round++) {
      for (const server of this.servers.values()) if (server.alive) this.beat(server.hostId)
      this.pass(stepMs)
    }
  }

  /** Starts: every device reports and safe mode is left. */
  start(): this {
    this.rounds(3)
    return this
  }

  /** Allots a file. */
  file(): number {
    return succeed(this.run((draft) => createFile(draft, { requestId: null }))).fileId
  }

  /** Allocates. */
  alloc(
    fileId: number,
    options: {
      readonly want?: number
      readonly min?: number
      readonly size?: number
      readonly chunkId?: number
      readonly exclude?: ReadonlyArray<string>
      readonly requestId?: string
    } = {}
  ): Result.Result<Allocation, Refusal> {
    const { want = 2, min = 1, size = 100, exclude = [] } = options
    return this.run((draft) =>
      alloc(draft, {
        requestId: options.requestId ?? null,
        random: (this.#random = (this.#random * 1664525 + 1013904223) >>> 0),
        fileId,
        chunkId: options.chunkId ?? null,
        size,
        want,
        min,
        exclude
      })
    )
  }

  /** Puts a copy on a disk. */
  store(deviceId: string, copy: ChunkCopy): void {
    this.disk(deviceId).copies.set(nameOf(copy), copy)
  }

  /** A device's word that it holds a copy. */
  receipt(deviceId: string, chunk: ChunkCopy): Receipt {
    return { deviceId, epoch: this.disk(deviceId).epoch, chunk, proven: true }
  }

  /** Publishes a version that the given devices hold. */
  publish(
    allocation: Allocation,
    devices: ReadonlyArray<string>,
    options: { readonly goal?: number; readonly requestId?: string; readonly min?: number } = {}
  ): Result.Result<Published, Refusal> {
    const chunk = chunkOf(allocation)
    return this.run((draft) =>
      publish(draft, {
        requestId: options.requestId ?? null,
        leaseId: allocation.leaseId,
        chunk,
        goal: options.goal ?? 2,
        min: options.min ?? 1,
        receipts: devices.map((deviceId) => this.receipt(deviceId, chunk))
      })
    )
  }

  /** Allocates, stores and publishes a chunk on the given devices. */
  write(
    devices: ReadonlyArray<string>,
    options: {
      readonly goal?: number
      readonly fileId?: number
      readonly chunkId?: number
    } = {}
  ): ChunkVersion & { readonly length: number; readonly checksum: number } {
    const fileId = options.fileId ?? this.file()
    const allocation = succeed(
      this.alloc(fileId, options.chunkId === undefined ? {} : { chunkId: options.chunkId })
    )
    const chunk = chunkOf(allocation)
    for (const device of devices) this.store(device, chunk)
    succeed(this.publish(allocation, devices, { goal: options.goal ?? devices.length }))
    return chunk
  }

  /** Kills and starts a chunk server again: a new process, new epochs of its disks. */
  restartServer(hostId: string): void {
    const server = this.server(hostId)
    server.incarnation++
    server.sequence = 0
    server.alive = true
    server.outcomes = []
    server.changes = []
    server.held = []
    for (const disk of server.disks) disk.epoch++
  }

  /** Starts the metadata service again from its journal. */
  restartService(): void {
    this.#lives += 1
    const reportsFrom = this.#lives * 1_000
    this.state = recover(this.settings, this.journal, this.now, { reportsFrom })
    expect(invariants(this.state)).toEqual([])
  }
}

/** The bytes that tests write under an allocation. */
export const chunkOf = (allocation: Allocation): ChunkCopy => ({
  fileId: allocation.fileId,
  chunkId: allocation.chunkId,
  version: allocation.version,
  length: 100,
  checksum: (allocation.version * 2654435761) >>> 0
})
