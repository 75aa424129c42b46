/** Draws a fault plan from a seed. */
import { type ClusterShape, deviceNames, serverNames } from "../cluster/cluster.ts"
import type { RandomSource } from "../random-source.ts"
import type { Fault, FaultPlan } from "./fault.ts"

/** How often each kind is drawn, against the others; kinds that are not named never are. */
export type FaultWeights = Readonly<Partial<Record<Fault["_tag"], number>>>

/** What the faults of a plan are drawn from. */
export interface PlanOptions {
  readonly random: RandomSource
  readonly shape: ClusterShape
  /** How long the faulty phase lasts. */
  readonly phaseMillis: number
  readonly weights: FaultWeights
  readonly faultsMax: number
}

interface Draw {
  readonly random: RandomSource
  readonly lasting: { readonly atMillis: number; readonly forMillis: number }
  readonly atMillis: number
  /** One of several that are never none. */
  readonly one: <A>(from: ReadonlyArray<A>) => A
  readonly server: () => string
  readonly servers: ReadonlyArray<string>
  readonly device: () => string
  readonly disk: () => string
  readonly host: () => string
}

const clockJumpMillisMax = 600_000
/** Shorter than a device may be silent: the host that has the original is never given up for it. */
const cloneMillis = 8_000

const drawLinks = ({ lasting, one, random, server }: Draw): Fault => {
  const isForAll = random.chance(0.4)
  return {
    _tag: "Links",
    ...lasting,
    from: isForAll || random.chance(0.3) ? null : server(),
    to: isForAll || random.chance(0.3) ? null : server(),
    loss: one([0, 0, 0.02, 0.1, 0.3]),
    duplication: one([0, 0.05, 0.3]),
    delayMillis: one([2, 20, 200, 1_500]),
    reorder: one([0, 0.2, 0.8])
  }
}

const drawIsolate = ({ lasting, random, server, servers }: Draw): Fault => {
  const chosen = servers.filter(() => random.chance(0.3))
  return { _tag: "Isolate", ...lasting, nodes: chosen.length === 0 ? [server()] : chosen }
}

const brokerDelays = [0, 0, 50, 700]

const drawers: { readonly [Tag in Fault["_tag"]]: (draw: Draw) => Fault } = {
  Links: drawLinks,
  Isolate: drawIsolate,
  OneWay: ({ lasting, server }) => ({ _tag: "OneWay", ...lasting, from: server(), to: server() }),
  Kill: ({ lasting, random, server }) => ({
    _tag: "Kill",
    ...lasting,
    node: server(),
    steps: random.integer(0, 400)
  }),
  PowerCut: ({ lasting }) => ({ _tag: "PowerCut", ...lasting }),
  Stop: ({ lasting, server }) => ({ _tag: "Stop", ...lasting, node: server() }),
  Pause: ({ lasting, server }) => ({ _tag: "Pause", ...lasting, node: server() }),
  Disconnect: ({ lasting, server }) => ({ _tag: "Disconnect", ...lasting, node: server() }),
  ClockJump: ({ atMillis, random, server }) => ({
    _tag: "ClockJump",
    atMillis,
    node: server(),
    millis: random.integer(-clockJumpMillisMax, clockJumpMillisMax)
  }),
  FlipBit: ({ atMillis, device, random }) => ({
    _tag: "FlipBit",
    atMillis,
    device: device(),
    pick: random.integer(0, 9_999),
    byte: random.integer(0, 15),
    bit: random.integer(0, 7)
  }),
  DamagedStore: ({ lasting, one, random, servers }) => ({
    _tag: "DamagedStore",
    ...lasting,
    node: one(servers.filter((name) => name.startsWith("peer"))),
    pick: random.integer(0, 9_999),
    byte: random.integer(0, 99),
    bit: random.integer(0, 7)
  }),
  DiskFull: ({ disk, lasting }) => ({ _tag: "DiskFull", ...lasting, disk: disk() }),
  TightDisk: ({ device, lasting, one }) => ({
    _tag: "TightDisk",
    ...lasting,
    disk: device(),
    bytes: one([3_000, 6_000, 12_000])
  }),
  SlowDisk: ({ disk, lasting, one }) => ({
    _tag: "SlowDisk",
    ...lasting,
    disk: disk(),
    millis: one([20, 150, 900])
  }),
  FailWrites: ({ atMillis, disk, random }) => ({
    _tag: "FailWrites",
    atMillis,
    disk: disk(),
    count: random.integer(1, 6)
  }),
  FailReads: ({ atMillis, disk, random }) => ({
    _tag: "FailReads",
    atMillis,
    disk: disk(),
    count: random.integer(1, 6)
  }),
  Streams: ({ lasting, one, random }) => ({
    _tag: "Streams",
    ...lasting,
    unavailable: random.integer(0, 5),
    lostAcknowledgements: random.integer(0, 3),
    delayMillis: one(brokerDelays)
  }),
  Store: ({ lasting, one, random }) => ({
    _tag: "Store",
    ...lasting,
    unavailable: random.integer(0, 4),
    lostAnswers: random.integer(0, 3),
    delayMillis: one(brokerDelays)
  }),
  DamagedJournal: ({ lasting, random }) => ({
    _tag: "DamagedJournal",
    ...lasting,
    pick: random.integer(0, 9_999),
    byte: random.integer(0, 9_999),
    bit: random.integer(0, 7)
  }),
  DamagedIdentity: ({ device, lasting, random }) => ({
    _tag: "DamagedIdentity",
    ...lasting,
    device: device(),
    byte: random.integer(0, 9_999),
    bit: random.integer(0, 7)
  }),
  Clone: ({ atMillis, device, host }) => ({
    _tag: "Clone",
    atMillis,
    forMillis: cloneMillis,
    device: device(),
    node: host()
  }),
  NoHandles: ({ host, lasting }) => ({ _tag: "NoHandles", ...lasting, node: host() }),
  ShortReads: ({ host, lasting }) => ({ _tag: "ShortReads", ...lasting, node: host() }),
  Operator: ({ atMillis, device, one }) => ({
    _tag: "Operator",
    atMillis,
    device: device(),
    action: one(["freeze", "thaw", "drain", "drain"])
  }),
  BrokerCut: ({ lasting, one, servers }) => ({
    _tag: "BrokerCut",
    ...lasting,
    node: one(servers.filter((name) => name.startsWith("worker")))
  }),
  LateWrites: ({ atMillis, one, random }) => ({
    _tag: "LateWrites",
    atMillis,
    count: random.integer(1, 4),
    delayMillis: one([1_000, 4_000, 9_000])
  }),
  Takeover: ({ atMillis, one, random }) => ({
    _tag: "Takeover",
    atMillis,
    forMillis: one([9_000, 20_000]),
    pick: random.integer(0, 99)
  })
}

const drawKind = (options: PlanOptions): string => {
  const entries = Object.entries(options.weights)
  const total = entries.reduce((sum, [, weight]) => sum + weight, 0)
  let at = options.random.nextDoubleUnsafe() * total
  for (const [tag, weight] of entries) {
    at -= weight
    if (at < 0) return tag
  }
  return "Kill"
}

const drawFault = (options: PlanOptions): Fault => {
  const { phaseMillis, random, shape } = options
  const kind = drawKind(options)
  const servers = serverNames(shape)
  const devices = deviceNames(shape)
  const disks = [...devices, ...servers.filter((name) => !/^(host|worker)/.test(name))]
  const one = <A>(from: ReadonlyArray<A>): A => {
    const picked = random.pick(from)
    if (picked === undefined) throw new Error(`a ${kind} has nothing to be drawn from`)
    return picked
  }
  const atMillis = random.integer(0, phaseMillis)
  const forMillis = one([200, 1_500, 5_000, 9_000, 20_000])
  const draw: Draw = {
    random,
    atMillis,
    lasting: { atMillis, forMillis },
    one,
    server: () => one(servers),
    servers,
    device: () => one(devices),
    disk: () => one(disks),
    host: () => one(servers.filter((name) => name.startsWith("host")))
  }
  const drawer = Object.entries(drawers).find(([tag]) => tag === kind)?.[1]
  if (drawer === undefined) throw new Error(`${kind} is no fault`)
  return drawer(draw)
}

/** Draws a plan, its faults in order of time. */
export const drawPlan = (options: PlanOptions): FaultPlan =>
  Array.from({ length: options.random.integer(1, options.faultsMax) }, () =>
    drawFault(options)
  ).sort((left, right) => left.atMillis - right.atMillis)
