/**
 * Carries the lease core's decisions out: claims, renews, asks, hands over and stops.
 *
 *     each renewal: list ──▶ observe ──▶ decide ──▶ compare-and-set ──▶ start, drain, stop
 *
 * 1. A shard runs only while its lease may be acted upon by this worker's own clock.
 * 2. A shard is released only after it was drained and checkpointed; a fenced one is not released,
 *    for it is not ours to release.
 * 3. Nothing here decides: who may claim what is the core's rule.
 */
import {
  decide,
  emptyTable,
  type LeaseAction,
  mayAct,
  observe,
  observeOne,
  raised,
  released
} from "@holdfast/lease"
import { Lease, LeaseError, type LeaseRecord, RecordSource, type Shard } from "@holdfast/records"
import { Clock, Duration, Effect, Fiber, Option, Scope } from "effect"
import type { WorkerConfig } from "./config.ts"
import { monotonicMs } from "./monotonic.ts"
import type { RunEnd } from "./shard-run.ts"
import { ShardControl, type ShardPorts, superviseShard } from "./shard.ts"

/** A shard that this worker holds. */
export interface Held {
  readonly epoch: number
  readonly control: ShardControl
  readonly fiber: Fiber.Fiber<RunEnd>
  renewedAt: number
  isDraining: boolean
}

/** What this worker sees and holds. */
export interface Ownership {
  readonly config: WorkerConfig
  readonly clock: Clock.Clock
  /** Shards run here; closing it stops them without a word. */
  readonly scope: Scope.Scope
  readonly held: Map<string, Held>
  table: ReturnType<typeof observe>
  shards: ReadonlyArray<Shard>
  /** When the shards were last listed; none while they never were. */
  listedAt: number | undefined
  isAccepting: boolean
}

/** A worker that holds and has seen nothing. */
export const makeOwnership = (
  config: WorkerConfig,
  clock: Clock.Clock,
  scope: Scope.Scope
): Ownership => ({
  config,
  clock,
  scope,
  held: new Map(),
  table: emptyTable,
  shards: [],
  listedAt: undefined,
  isAccepting: true
})

/** Rounds within one renewal: a conflict is looked at again at once, but not for ever. */
const roundsMax = 3
const writesAtOnce = 8

/** One renewal; survives whatever a port answers. */
export const renewLeases = Effect.fnUntraced(function* (ownership: Ownership) {
  yield* discover(ownership)
  if (ownership.listedAt === undefined) return
  for (let round = 0; round < roundsMax; round++) {
    const conflicts = yield* decideOnce(ownership).pipe(
      Effect.catch((error) =>
        Effect.as(Effect.logWarning(`the leases could not be renewed: ${error.message}`), 0)
      )
    )
    if (conflicts === 0) return
  }
})

/** Stops every shard whose lease may have lapsed in the eyes of others. */
export const stopLapsed = (ownership: Ownership): void => {
  const { config, held } = ownership
  const now = monotonicMs(ownership.clock)
  const term = { termMs: config.leaseTermMs, marginMs: config.leaseMarginMs }
  for (const [shard, one] of held) {
    if (mayAct(one, now, term)) continue
    held.delete(shard)
    one.control.fence("the lease was not renewed in time")
  }
}

const discover = Effect.fnUntraced(function* (ownership: Ownership) {
  const { config, listedAt } = ownership
  const now = monotonicMs(ownership.clock)
  if (listedAt !== undefined && now - listedAt < config.discoveryIntervalMs) return
  const source = yield* RecordSource
  const shards = yield* source.shards.pipe(
    Effect.timeoutOption(Duration.millis(config.callDeadlineMs)),
    Effect.catch((error) =>
      Effect.as(
        Effect.logWarning(`the shards could not be listed: ${error.message}`),
        Option.none()
      )
    )
  )
  if (Option.isNone(shards)) return
  ownership.shards = shards.value
  ownership.listedAt = now
})

/** The claims of this worker's group: only they count for what is free and what is even. */
const ownClaims = ({ config: { group }, table }: Ownership): ReturnType<typeof observe> => {
  if (group === undefined) return table
  const isOwn = (shard: string): boolean =>
    group === "" ? !shard.includes(":") : shard.startsWith(`${group}:`)
  return new Map([...table].filter(([shard]) => isOwn(shard)))
}

const withDeadline = (config: WorkerConfig) =>
  Effect.timeoutOrElse({
    duration: Duration.millis(config.callDeadlineMs),
    orElse: () =>
      Effect.fail(
        new LeaseError({ code: "unavailable", message: "the lease store did not answer in time" })
      )
  })

/** Sees, decides and acts; answers how many writes came too late. */
const decideOnce = Effect.fnUntraced(function* (
  ownership: Ownership
): Effect.fn.Return<number, LeaseError, Lease | ShardPorts> {
  const { clock, config, held, isAccepting, shards } = ownership
  const lease = yield* Lease
  const askedAt = monotonicMs(clock)
  const listing = yield* lease.list.pipe(withDeadline(config))
  // A claim that is seen now may have changed at any time since the listing was asked for; counting
  // from its arrival gives the owner the benefit.
  const now = monotonicMs(clock)
  ownership.table = observe(ownership.table, listing, now)
  const actions = decide({
    table: ownClaims(ownership),
    now: askedAt,
    termMs: config.leaseTermMs,
    self: config.worker,
    shards: shards.map(({ shard }) => shard),
    held,
    isAccepting
  })
  const outcomes = yield* Effect.forEach(actions, (action) => carryOut(ownership, action), {
    concurrency: writesAtOnce
  })
  return outcomes.filter((isConflict) => isConflict).length
})

/** Carries one action out; answers whether it came too late. */
const carryOut = Effect.fnUntraced(function* (
  ownership: Ownership,
  action: LeaseAction
): Effect.fn.Return<boolean, LeaseError, Lease | ShardPorts> {
  const begunAt = monotonicMs(ownership.clock)
  switch (action._tag) {
    case "Claim": {
      if (!ownership.isAccepting) return false
      if (!(yield* writeClaim(ownership, action.claim, action.expected))) return true
      yield* start(ownership, action.claim, begunAt)
      return false
    }
    case "Renew": {
      const one = ownership.held.get(action.claim.shard)
      if (one?.epoch !== action.claim.epoch) return false
      if (!(yield* writeClaim(ownership, action.claim, action.expected))) return true
      one.renewedAt = begunAt
      return false
    }
    case "Ask":
      yield* writeClaim(ownership, action.claim, action.expected)
      return false
    case "HandOff":
      yield* handOff(ownership, action.shard)
      return false
    case "Lost":
      ownership.held.get(action.shard)?.control.fence("another worker holds the lease")
      ownership.held.delete(action.shard)
      return false
  }
})

/** Writes a claim; false where somebody else has written it meanwhile. */
export const writeClaim = Effect.fnUntraced(function* (
  ownership: Ownership,
  record: LeaseRecord,
  expected: Option.Option<bigint>
): Effect.fn.Return<boolean, LeaseError, Lease> {
  const lease = yield* Lease
  const revision = yield* lease.write({ record, expected }).pipe(
    withDeadline(ownership.config),
    Effect.asSome,
    Effect.catchTag("LeaseConflict", () => Effect.succeedNone)
  )
  if (Option.isNone(revision)) return false
  const now = monotonicMs(ownership.clock)
  ownership.table = observeOne(ownership.table, { record, revision: revision.value }, now)
  return true
})

const start = (
  ownership: Ownership,
  { epoch, shard }: LeaseRecord,
  renewedAt: number
): Effect.Effect<void, never, Lease | ShardPorts> =>
  Effect.gen(function* () {
    const { config, held, scope, shards } = ownership
    const stream = shards.find((one) => one.shard === shard)?.stream ?? shard
    const control = new ShardControl({ shard, stream, epoch, config })
    const supervised = Effect.tap(superviseShard(control), (end) => ended(ownership, control, end))
    const fiber = yield* Effect.forkIn(supervised, scope)
    held.set(shard, { epoch, control, fiber, renewedAt, isDraining: false })
  })

/** A shard that ended without being asked to is not held any more, or goes on under a new epoch. */
const ended = Effect.fnUntraced(function* (
  ownership: Ownership,
  control: ShardControl,
  end: RunEnd
) {
  const { config, held, table } = ownership
  const { epoch, shard } = control.options
  const one = held.get(shard)
  if (one?.control !== control || one.isDraining) return
  held.delete(shard)
  if (end._tag === "Drained") return
  yield* Effect.logWarning(`${shard} has stopped under epoch ${epoch}: ${end.reason}`)
  const claim = table.get(shard)
  if (end._tag !== "Fenced" || end.aboveEpoch === undefined || claim === undefined) return
  const { owner } = claim.record
  if (claim.record.epoch !== epoch || Option.getOrUndefined(owner) !== config.worker) return
  // The claims were started over while the checkpoints were not. If the lease is ours all the same,
  // this write succeeds, and the shard goes on above every epoch that was ever used.
  const begunAt = monotonicMs(ownership.clock)
  const record = raised(claim.record, end.aboveEpoch)
  const isWritten = yield* writeClaim(ownership, record, Option.some(claim.revision)).pipe(
    Effect.catch((error) => Effect.as(Effect.logWarning(error.message), false))
  )
  if (isWritten) yield* start(ownership, record, begunAt)
})

/** Begins to drain a shard, to be released when that is done. */
export const handOff = Effect.fnUntraced(function* (ownership: Ownership, shard: string) {
  const one = ownership.held.get(shard)
  if (one === undefined || one.isDraining) return
  one.isDraining = true
  yield* Effect.forkIn(drainAndRelease(ownership, shard, one), ownership.scope)
})

/** Drains a shard and releases its lease; a shard that turned out to be lost is left alone. */
export const drainAndRelease = Effect.fnUntraced(function* (
  ownership: Ownership,
  shard: string,
  one: Held
) {
  one.isDraining = true
  one.control.requestDrain()
  const end = yield* Fiber.join(one.fiber)
  if (ownership.held.get(shard) === one) ownership.held.delete(shard)
  if (end._tag !== "Drained") return
  yield* release(ownership, shard, one.epoch).pipe(
    Effect.catch((error) =>
      Effect.logWarning(`the lease of ${shard} was not released and must lapse: ${error.message}`)
    )
  )
})

const release = Effect.fnUntraced(function* (
  ownership: Ownership,
  shard: string,
  epoch: number
): Effect.fn.Return<void, LeaseError, Lease> {
  const lease = yield* Lease
  for (let round = 0; round < roundsMax; round++) {
    const listing = yield* lease.list.pipe(withDeadline(ownership.config))
    const found = listing.find(({ record }) => record.shard === shard)
    if (found === undefined || found.record.epoch !== epoch) return
    if (Option.getOrUndefined(found.record.owner) !== ownership.config.worker) return
    const record = released(found.record)
    if (yield* writeClaim(ownership, record, Option.some(found.revision))) return
  }
})
