/**
 * What an operator orders about one shard. Any worker of the shard's group can be told to pause, to
 * resume or to reset it; to move it, the one that owns it.
 *
 *     pause ──▶ the owner flushes, checkpoints and lets it go; nobody takes it, until
 *     resume
 *     move  ──▶ flushed, checkpointed and released for the worker that is named
 *     reset ──▶ where a paused shard goes on when it is resumed
 *
 * 1. An order is a write to the claim, by compare-and-set: it holds whoever dies meanwhile.
 * 2. A reset is of a paused shard that nobody owns, so that no owner overwrites it.
 */
import { emptyMap, encodeMap } from "@holdfast/disposition"
import { asked, type Claim, paused, unclaimed } from "@holdfast/lease"
import { CheckpointStore, Lease } from "@holdfast/records"
import { ServiceError, type WorkerId } from "@holdfast/wire"
import { Duration, Effect, Option } from "effect"
import { handOff, type Ownership, writeClaim } from "./leases.ts"

/** Conflicts with renewals that an order survives. */
const roundsMax = 8

const refuse = (code: string, message: string) => new ServiceError({ code, message })
const unavailable = ({ message }: { readonly message: string }) => refuse("unavailable", message)

const claimOf = Effect.fnUntraced(function* (ownership: Ownership, shard: string) {
  const lease = yield* Lease
  const listing = yield* lease.list.pipe(
    Effect.timeoutOrElse({
      duration: Duration.millis(ownership.config.callDeadlineMs),
      orElse: () => Effect.fail(refuse("unavailable", "the lease store did not answer in time"))
    }),
    Effect.mapError(unavailable)
  )
  return listing.find(({ record }) => record.shard === shard)
})

const unknownShard = (shard: string) =>
  refuse(
    "no-such-shard",
    `no worker has heard of the shard "${shard}"; \`holdfast shards\` lists them`
  )

/** Changes a claim, again while renewals come in between. */
const changeClaim = Effect.fnUntraced(function* (
  ownership: Ownership,
  shard: string,
  change: (claim: Claim) => Claim
): Effect.fn.Return<void, ServiceError, Lease> {
  for (let round = 0; round < roundsMax; round++) {
    const found = yield* claimOf(ownership, shard)
    const isKnown = ownership.shards.some((one) => one.shard === shard)
    if (found === undefined && !isKnown) return yield* unknownShard(shard)
    const isWritten = yield* writeClaim(
      ownership,
      change(found?.record ?? unclaimed(shard)),
      Option.fromUndefinedOr(found?.revision)
    ).pipe(Effect.mapError(unavailable))
    if (isWritten) return
  }
  return yield* refuse("conflict", `the claim on ${shard} changes all the time; try again`)
})

/** Pauses a shard, or lets it go on. */
export const setPaused = (
  ownership: Ownership,
  { isPaused, shard }: { readonly shard: string; readonly isPaused: boolean }
): Effect.Effect<void, ServiceError, Lease> =>
  changeClaim(ownership, shard, (claim) => paused(claim, isPaused))

/** Hands a shard that this worker owns to another one. */
export const moveShard = Effect.fnUntraced(function* (
  ownership: Ownership,
  { shard, to }: { readonly shard: string; readonly to: WorkerId }
) {
  const { worker } = ownership.config
  const one = ownership.held.get(shard)
  if (one === undefined || one.isDraining) {
    return yield* refuse("not-owner", `${worker} does not own the shard "${shard}" now`)
  }
  if (to === worker) {
    return yield* refuse("not-elsewhere", `${worker} has the shard "${shard}" already`)
  }
  yield* changeClaim(ownership, shard, (claim) => asked(claim, to))
  yield* handOff(ownership, shard)
})

/** Sets where a paused shard goes on: behind a position, or at its oldest record. */
export const resetShard = Effect.fnUntraced(function* (
  ownership: Ownership,
  { after, shard }: { readonly shard: string; readonly after: bigint | undefined }
) {
  const { worker } = ownership.config
  const store = yield* CheckpointStore
  const claim = (yield* claimOf(ownership, shard))?.record
  if (claim === undefined) return yield* unknownShard(shard)
  if (claim.isPaused !== true || Option.isSome(claim.owner)) {
    const state = Option.match(claim.owner, {
      onNone: () => "is not paused",
      onSome: (owner) => `is still with ${owner}`
    })
    return yield* refuse(
      "not-paused",
      `the shard "${shard}" ${state}; \`holdfast shards pause ${shard}\`, and wait until it is let go`
    )
  }
  const stored = yield* Effect.mapError(store.load(shard), unavailable)
  yield* store
    .save({
      shard,
      checkpoint: {
        position: Option.fromUndefinedOr(after),
        completionMap: encodeMap(emptyMap(after)).bytes,
        // Whoever takes the shard next does so under a higher epoch.
        epoch: claim.epoch,
        owner: worker
      },
      expected: Option.map(stored, ({ revision }) => revision)
    })
    .pipe(Effect.mapError(unavailable))
})
