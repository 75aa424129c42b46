/**
 * What outlives every process of a simulated cluster: time, network, disks, the broker's stores.
 */
import { createHmac } from "node:crypto"
import {
  type DiskFault,
  MemoryChunkPath,
  MemoryDisk,
  MemoryKeyValue,
  MemoryNetwork,
  MemoryStreams,
  type NetworkEvent,
  readCheckpoint,
  type WatermarkOptions
} from "@holdfast/adapter-memory"
import { ClusterId } from "@holdfast/wire"
import { Cause, Effect, Logger, Option, Scope } from "effect"
import { makeRandomSource, type RandomSource } from "../random-source.ts"
import { SimulatedProcess } from "../time/simulated-process.ts"
import { VirtualTime } from "../time/virtual-time.ts"
import { makeTrace, type Trace } from "../trace.ts"
import type { Report, Violation } from "../violation.ts"
import { type LateStore, lateStore } from "./late-store.ts"
import type { Seams } from "./seams.ts"
import type { Watch } from "./watch.ts"

/** The cluster of every simulation. */
export const clusterId = ClusterId.make("simulated")

/** The keyed hash of the cluster. */
export const mac = (text: string): Uint8Array =>
  new Uint8Array(createHmac("sha256", "simulation").update(text).digest())

/** The size of each disk when nothing is wrong. */
export const diskBytes = 64 * 1024 * 1024

/** A bit that is turned over; the same fault turns it back. */
export interface Damage {
  readonly flip: DiskFault
  /** How often its reader had started before it. */
  readonly startsBefore: number
}

/** What the processes of one simulation share. */
export interface Site {
  readonly time: VirtualTime
  readonly trace: Trace
  /** Split it by name before drawing from it. */
  readonly random: RandomSource
  /** Runs what belongs to no node: the network's timers, faults, the course of the run. */
  readonly world: SimulatedProcess
  readonly network: MemoryNetwork
  readonly path: MemoryChunkPath
  readonly streams: MemoryStreams
  readonly keyValue: LateStore
  /** The disk of a name, made when there is none. */
  readonly disk: (name: string) => MemoryDisk
  readonly seams: Seams
  /** Disks on which a bit is turned over that a start must find, and since when. */
  readonly damaged: Map<string, Damage>
  /** Hosts that can open no file, and those whose reads come in small pieces. */
  readonly withoutHandles: Set<string>
  readonly shortReading: Set<string>
  /** Workers that reach neither leases nor checkpoints. */
  readonly cutFromBroker: Set<string>
  /** Nodes that are not to run: those that have not joined yet, and those that have left. */
  readonly outside: Set<string>
  /** Devices that an operator wanted to be drained. */
  readonly retired: Set<string>
  /** How streams are read that a worker acknowledges; the others are read freely. */
  readonly watermarks: Map<string, WatermarkOptions>
  /** Set before the first node starts. */
  watch: Watch
  readonly violations: Array<Violation>
  readonly report: Report
  /** A process of a node; `start` counts its lives. */
  readonly makeProcess: (node: string, start: number) => SimulatedProcess
}

/** What a site is made from. */
export interface SiteOptions {
  readonly seed: number
  readonly seams: Seams
  readonly watch: Watch
  readonly traceLinesMax: number
}

const networkLine = ({ from, kind, message, subject, to }: NetworkEvent): string =>
  kind === "fault" ? `network ${subject}` : `${kind} ${from}>${to} ${subject} #${message}`

/** What is logged, in one line. */
const inWords = (part: unknown): string => {
  if (typeof part === "string") return part
  if (part instanceof Error) return `${part.name}: ${part.message}`
  return JSON.stringify(part, (_, value: unknown) =>
    typeof value === "bigint"
      ? String(value)
      : value instanceof Error
        ? `${value.name}: ${value.message}`
        : value
  )
}

const isWorthLogging = new Set(["Warn", "Error", "Fatal"])

const makeLogger = (node: string, trace: Trace, report: Report) =>
  Logger.make<unknown, void>(({ cause, logLevel, message }) => {
    if (!isWorthLogging.has(logLevel)) return
    const parts: ReadonlyArray<unknown> = Array.isArray(message) ? message : [message]
    const words = parts.map(inWords).join(" ")
    const why = cause.reasons.length === 0 ? "" : ` ${Cause.pretty(cause).split("\n")[0]}`
    trace.add(`log ${node} ${logLevel}: ${words}${why}`)
    if (logLevel === "Fatal") report("service-invariants", `${node}: ${words}`)
  })

/** Runs what does not wait, in a process, and answers what it answers. */
const runNow = <A>(process: SimulatedProcess, time: VirtualTime, effect: Effect.Effect<A>): A => {
  const answer: { value?: { readonly is: A } } = {}
  process.fork(
    Effect.map(effect, (is) => {
      answer.value = { is }
    })
  )
  time.run(() => answer.value !== undefined)
  if (answer.value === undefined) throw new Error("what should take no time never ended")
  return answer.value.is
}

/** Makes a site without nodes. */
export const makeSite = (options: SiteOptions): Site => {
  const time = new VirtualTime()
  const random = makeRandomSource(options.seed)
  const trace = makeTrace({ linesMax: options.traceLinesMax, nowMicros: () => time.nowMicros })
  const violations: Array<Violation> = []
  const report: Report = (invariant, message) => {
    trace.add(`VIOLATION ${invariant}: ${message}`)
    violations.push({ invariant, message, atMillis: time.nowMicros / 1_000 })
  }
  const makeProcess = (node: string, start: number) =>
    new SimulatedProcess({
      time,
      random: random.split(`process ${node} ${start}`),
      logger: makeLogger(node, trace, report)
    })
  const world = makeProcess("world", 0)
  const network = runNow(
    world,
    time,
    MemoryNetwork.make({ observe: (event) => trace.add(networkLine(event)) }).pipe(
      Effect.provideService(Scope.Scope, Scope.makeUnsafe())
    )
  )
  const disks = new Map<string, MemoryDisk>()
  const disk = (name: string): MemoryDisk => {
    const known = disks.get(name)
    if (known !== undefined) return known
    const made = runNow(world, time, MemoryDisk.make({ capacity: diskBytes }))
    disks.set(name, made)
    return made
  }
  // At the moment of the write: its answer may come late, or never.
  const stored = MemoryKeyValue.make({
    observe: (entry) => {
      const read = readCheckpoint(entry)
      if (Option.isNone(read)) return
      const { checkpoint, shard } = read.value
      const position = Option.getOrElse(checkpoint.position, () => 0n)
      trace.add(`checkpoint ${shard} ${position} epoch ${checkpoint.epoch} ${checkpoint.owner}`)
      site.watch.checkpointSaved(shard, checkpoint)
    }
  })
  const keyValue = lateStore(options.seams.keyValue(stored), world, trace.add)
  const site: Site = {
    time,
    trace,
    random,
    world,
    network,
    path: MemoryChunkPath.make(network),
    streams: MemoryStreams.make(),
    keyValue,
    disk,
    seams: options.seams,
    damaged: new Map(),
    withoutHandles: new Set(),
    shortReading: new Set(),
    cutFromBroker: new Set(),
    outside: new Set(),
    retired: new Set(),
    watermarks: new Map(),
    watch: options.watch,
    violations,
    report,
    makeProcess
  }
  return site
}
