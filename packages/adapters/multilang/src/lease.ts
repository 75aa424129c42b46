/**
 * The Lease of a session: the shard is the daemon's to give and to take. The one claim on it stands
 * as long as the session does; when the lease is lost, whoever looks sees another owner.
 */
import { Lease, LeaseConflict, type StoredLease } from "@holdfast/records"
import { Effect, Option } from "effect"
import type { Connection } from "./connection.ts"

/** Makes the lease over a connection. */
export const makeLease = ({ session }: Connection): Lease["Service"] => {
  let stored: StoredLease | undefined
  const conflict = (shard: string, message: string) =>
    Effect.fail(new LeaseConflict({ shard, message }))
  return Lease.of({
    list: Effect.sync(() => {
      if (stored === undefined) return []
      if (session.lostReason === undefined) return [stored]
      const { record, revision } = stored
      const owner = Option.some("the daemon")
      const taken = { ...record, owner, epoch: record.epoch + 1, beat: record.beat + 1 }
      return [{ record: taken, revision: revision + 1n }]
    }),
    write: ({ expected, record }) =>
      Effect.suspend(() => {
        const { lostReason, shard } = session
        if (lostReason !== undefined) return conflict(record.shard, lostReason)
        if (record.shard !== shard?.shard) {
          return conflict(record.shard, "the daemon has not given this shard")
        }
        if (stored?.revision !== Option.getOrUndefined(expected)) {
          return conflict(record.shard, "the claim was written meanwhile")
        }
        stored = { record, revision: (stored?.revision ?? 0n) + 1n }
        return Effect.succeed(stored.revision)
      })
  })
}
