/**
 * One run: a cluster from a seed, its workload, its faults, and the judgement.
 *
 *     start ─▶ prepare ─▶ faults and workload ─▶ heal, start all ─▶ settled? ─▶ audit ─▶ judgement
 *                                                                  └─ not in time: a violation
 *
 * 1. The seed and the plan give the run, event by event.
 * 2. The first violation ends it.
 */
import { Cause, Effect, Exit, Fiber } from "effect"
import { isAllUp, makeCluster, type SimulatedCluster, startAll } from "./cluster/cluster.ts"
import { type Seams, soundSeams } from "./cluster/seams.ts"
import { makeSite } from "./cluster/site.ts"
import { watchAll } from "./cluster/watch.ts"
import { beginFault, endFault, healAll, setSound } from "./faults/apply-fault.ts"
import { drawPlan } from "./faults/draw-plan.ts"
import type { FaultPlan } from "./faults/fault.ts"
import { thawAll } from "./faults/operator.ts"
import { makeChunkHistory } from "./oracle/chunk-history.ts"
import { makeChunkMapOracle } from "./oracle/chunk-map.ts"
import { makeClusterOracle } from "./oracle/cluster-agreement.ts"
import { makeDamageOracle } from "./oracle/damage.ts"
import { makeDeviceOracle } from "./oracle/device-claims.ts"
import { makeLeaseOracle } from "./oracle/leases.ts"
import { makeOrderOracle } from "./oracle/orders.ts"
import { makeReplicaOracle } from "./oracle/replicas.ts"
import { makeRoomOracle } from "./oracle/room.ts"
import { makeSafeModeOracle } from "./oracle/safe-mode.ts"
import type { Oracle } from "./oracle/oracle.ts"
import type { Profile } from "./profile.ts"
import { makeRandomSource } from "./random-source.ts"
import { Livelock } from "./time/virtual-time.ts"
import type { Violation } from "./violation.ts"
import type { Workload } from "./workload/workload.ts"

/** What one run is made from. */
export interface RunOptions {
  readonly seed: number
  readonly profile: Profile
  /** Drawn from the seed when absent. */
  readonly plan?: FaultPlan
  readonly seams?: Seams
  readonly traceLinesMax?: number
  /** Called with the cluster as it is at the end, to look into what a violation left. */
  readonly inspect?: (cluster: SimulatedCluster) => void
}

/** What a run came to. */
export interface RunResult {
  readonly seed: number
  readonly plan: FaultPlan
  /** The first violation; none in a good run. */
  readonly violation: Violation | undefined
  readonly virtualMillis: number
  /** Lines of the trace, and steps of fibers. */
  readonly events: number
  readonly steps: number
  readonly traceDigest: string
  /** The newest lines. */
  readonly trace: ReadonlyArray<string>
}

const lookMillis = 250
const startMillisMax = 60_000
const programsMillisMax = 120_000
const settleMillisMax = 240_000

/** The plan of a seed. */
export const planOf = (seed: number, profile: Profile): FaultPlan =>
  drawPlan({ random: makeRandomSource(seed).split("plan"), ...profile })

/** Waits, looking again and again; false when it took too long. */
const waitUntil = Effect.fnUntraced(function* (isReached: () => boolean, millisMax: number) {
  for (let waited = 0; waited < millisMax; waited += lookMillis) {
    if (isReached()) return true
    yield* Effect.sleep(lookMillis)
  }
  return isReached()
})

const letHappen = (cluster: SimulatedCluster, plan: FaultPlan) =>
  Effect.forEach(
    plan,
    (fault) =>
      Effect.gen(function* () {
        yield* Effect.sleep(fault.atMillis)
        beginFault(cluster, fault)
        if (!("forMillis" in fault)) return
        yield* Effect.sleep(fault.forMillis)
        endFault(cluster, fault)
      }),
    { concurrency: "unbounded", discard: true }
  )

interface Course {
  readonly cluster: SimulatedCluster
  readonly plan: FaultPlan
  readonly workloads: ReadonlyArray<Workload>
  readonly oracles: ReadonlyArray<Oracle>
}

/** Runs a client's effect on its node and waits for it, for so long at most. */
const onClient = Effect.fnUntraced(function* (
  { cluster }: Course,
  index: number,
  what: string,
  effect: Workload["audit"],
  millisMax: number
) {
  const node = cluster.clients[index]
  const services = node?.service
  if (node === undefined || services === undefined) {
    return cluster.site.report("harness", `client ${index} is not up for ${what}`)
  }
  const fiber = node.fork(Effect.provideContext(effect, services))
  let exit: Exit.Exit<void, unknown> | undefined
  fiber?.addObserver((ended) => {
    exit = ended
  })
  const isEnded = yield* waitUntil(() => exit !== undefined, millisMax)
  if (!isEnded) return cluster.site.report("liveness", `${what} does not end`)
  if (exit !== undefined && Exit.isFailure(exit)) {
    cluster.site.report("liveness", `${what} fails: ${Cause.pretty(exit.cause)}`)
  }
})

const unsettled = (course: Course): ReadonlyArray<string> =>
  course.oracles.flatMap((oracle) => oracle.unsettled?.() ?? [])

const isSettled = (course: Course): boolean => unsettled(course).length === 0

const begin = Effect.fnUntraced(function* (course: Course) {
  const { site } = course.cluster
  setSound(course.cluster)
  startAll(course.cluster)
  const isStarted = yield* waitUntil(
    () => isAllUp(course.cluster) && isSettled(course),
    startMillisMax
  )
  if (!isStarted) {
    return site.report("liveness", `it does not start: ${unsettled(course).join("; ")}`)
  }
  for (const workload of course.workloads) {
    yield* onClient(course, 0, "preparing", workload.prepare, startMillisMax)
  }
  site.trace.add("prepared")
})

const suffer = Effect.fnUntraced(function* (course: Course, phaseMillis: number) {
  const { cluster, plan, workloads } = course
  const happening = yield* Effect.forkChild(letHappen(cluster, plan))
  const programs = yield* Effect.forEach(workloads, ({ programs }) =>
    Effect.forEach(programs, (program, index) =>
      Effect.forkChild(
        onClient(course, index, "a program", program, phaseMillis + programsMillisMax)
      )
    )
  )
  yield* Effect.sleep(phaseMillis)
  yield* Fiber.interrupt(happening)
  cluster.site.trace.add("faults are over")
  healAll(cluster, plan)
  startAll(cluster)
  yield* onClient(course, 0, "thawing", thawAll(cluster), programsMillisMax)
  yield* Effect.forEach(programs.flat(), Fiber.await)
})

const settle = Effect.fnUntraced(function* (course: Course) {
  const { cluster, oracles, workloads } = course
  const { report, trace } = cluster.site
  yield* waitUntil(() => isAllUp(cluster) && isSettled(course), settleMillisMax)
  if (!isAllUp(cluster)) {
    const down = [...cluster.servers.values()].filter(({ isOutside, isUp }) => !isUp && !isOutside)
    return report("liveness", `down for good: ${down.map(({ name }) => name).join(", ")}`)
  }
  if (!isSettled(course)) return report("liveness", unsettled(course).join("; "))
  trace.add("settled")
  for (const workload of workloads) {
    yield* onClient(course, 0, "the audit", workload.audit, settleMillisMax)
  }
  for (const oracle of oracles) yield* oracle.final ?? Effect.void
})

const look = (course: Course): Effect.Effect<never> =>
  Effect.forever(
    Effect.andThen(
      Effect.sync(() => {
        for (const oracle of course.oracles) oracle.step?.()
      }),
      Effect.sleep(lookMillis)
    )
  )

const prepareCourse = (options: RunOptions): Course => {
  const { profile, seed } = options
  const site = makeSite({
    seed,
    seams: options.seams ?? soundSeams,
    watch: watchAll([]),
    traceLinesMax: options.traceLinesMax ?? 4_000
  })
  const cluster = makeCluster(site, profile.shape)
  const history = makeChunkHistory(cluster)
  const workloads = profile.workloads.map((make, index) =>
    make({
      cluster,
      history,
      random: site.random.split(`workload ${index}`),
      phaseMillis: profile.phaseMillis
    })
  )
  const oracles = [
    history.oracle,
    makeChunkMapOracle(cluster, history),
    makeOrderOracle(cluster, history),
    makeRoomOracle(cluster),
    makeDeviceOracle(cluster),
    makeSafeModeOracle(cluster),
    makeDamageOracle(cluster),
    makeLeaseOracle(cluster),
    makeClusterOracle(cluster),
    makeReplicaOracle(cluster),
    ...workloads.flatMap((workload) => workload.oracles)
  ]
  site.watch = watchAll(oracles.flatMap(({ watch }) => (watch === undefined ? [] : [watch])))
  return { cluster, plan: options.plan ?? planOf(seed, profile), workloads, oracles }
}

/** Runs one simulation to its end; takes no real time but that of its own steps. */
export const run = (options: RunOptions): RunResult => {
  const course = prepareCourse(options)
  const { site } = course.cluster
  const main = site.world.fork(
    Effect.gen(function* () {
      yield* Effect.forkChild(look(course))
      yield* begin(course)
      yield* suffer(course, options.profile.phaseMillis)
      yield* settle(course)
    })
  )
  let exit: Exit.Exit<void, unknown> | undefined
  main.addObserver((ended) => {
    exit = ended
  })
  try {
    site.time.run(() => exit !== undefined || site.violations.length > 0)
  } catch (error) {
    if (!(error instanceof Livelock)) throw error
    site.report("livelock", error.message)
  }
  if (exit !== undefined && Exit.isFailure(exit)) {
    site.report("harness", Cause.pretty(exit.cause))
  }
  if (exit === undefined && site.violations.length === 0) {
    site.report("deadlock", "nothing is left to run or to wait for")
  }
  options.inspect?.(course.cluster)
  return {
    seed: options.seed,
    plan: course.plan,
    violation: site.violations[0],
    virtualMillis: site.time.nowMicros / 1_000,
    events: site.trace.count(),
    steps: site.time.tasksRun,
    traceDigest: site.trace.digest(),
    trace: site.trace.newest()
  }
}
