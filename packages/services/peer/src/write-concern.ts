/**
 * How many participants must hold a write before it is answered, and the wait for them.
 */
import type { EventId } from "@holdfast/power-state"
import type { PeerOperations } from "@holdfast/wire"
import { ServiceError } from "@holdfast/wire"
import { Deferred, Effect } from "effect"
import type { Address } from "./address.ts"
import type { PartitionTable } from "./partition-table.ts"

/** How many must hold a write; never more than there are. */
const holdersNeeded = (concern: PeerOperations.WriteConcern, participants: number): number => {
  switch (concern) {
    case "local":
      return Math.min(1, participants)
    case "one-more":
      return Math.min(2, participants)
    case "majority":
      return Math.floor(participants / 2) + 1
    case "all":
      return participants
  }
}

/** A write that is durable here, and how many are to hold it. */
export interface AwaitedWrite {
  /** Null when everybody holds it. */
  readonly id: EventId | null
  readonly participants: number
  readonly concern: PeerOperations.WriteConcern
  /** Monotonic milliseconds. */
  readonly expiresAt: number
}

/** Waits until enough participants hold a write; says how many do at the end of the wait. */
const awaitHolders = (
  table: PartitionTable,
  address: Address,
  {
    expiresAt,
    id,
    needed
  }: Pick<AwaitedWrite, "expiresAt"> & {
    readonly id: EventId
    readonly needed: number
  }
): Effect.Effect<number> =>
  Effect.suspend(() => {
    const resident = table.find(address)
    const count = Math.max(1, resident?.current?.holders(id).length ?? 0)
    if (resident === undefined || count >= needed) return Effect.succeed(count)
    const reached = Deferred.makeUnsafe<number>()
    table.addWaiter(resident, {
      id,
      needed,
      expiresAt,
      reached: (holders) => {
        Deferred.doneUnsafe(reached, Effect.succeed(holders))
      }
    })
    return Deferred.await(reached)
  })

/** The write stands, but too few are known to hold it. */
const concernNotMet = (held: number, needed: number): ServiceError =>
  new ServiceError({
    code: "write-concern-not-met",
    message:
      `the write is held by ${held} of the ${needed} participants asked for; ` +
      "it stays, and spreads when the others are back: repeat it with the same request id"
  })

/** Waits until a write is held as its concern wants it; how many hold it, or a refusal in time. */
export const awaitConcern = Effect.fnUntraced(function* (
  table: PartitionTable,
  address: Address,
  { concern, expiresAt, id, participants }: AwaitedWrite
): Effect.fn.Return<number, ServiceError> {
  if (id === null) return participants
  const needed = holdersNeeded(concern, participants)
  const heldBy = yield* awaitHolders(table, address, { id, needed, expiresAt })
  return heldBy < needed ? yield* concernNotMet(heldBy, needed) : heldBy
})
