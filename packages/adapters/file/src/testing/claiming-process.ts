/**
 * A process for tests that share a store between processes: it renews one claim so many times, each
 * time over the revision that it has just read, and says how often another process came first.
 *
 *     node claiming-process.ts <directory> <times>
 */
import { Lease } from "@holdfast/records"
import type { LeaseRecord } from "@holdfast/records"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { writeSync } from "node:fs"
import { fileLease } from "../file-progress.ts"

const [directory = "", times = "1"] = process.argv.slice(2)
const shard = "orders"

const renewed = (record: LeaseRecord | undefined): LeaseRecord =>
  record === undefined
    ? { shard, owner: Option.none(), epoch: 0, beat: 1, wantedBy: Option.none() }
    : { ...record, beat: record.beat + 1 }

const main = Effect.gen(function* () {
  const lease = Context.get(yield* Layer.build(fileLease({ directory })), Lease)
  let conflicts = 0
  for (let done = 0; done < Number(times);) {
    const [stored] = yield* lease.list
    const record = renewed(stored?.record)
    const expected = Option.fromUndefinedOr(stored?.revision)
    const result = yield* Effect.result(lease.write({ record, expected }))
    if (result._tag === "Success") done += 1
    else if (result.failure._tag === "LeaseConflict") conflicts += 1
    else return yield* result.failure
  }
  writeSync(1, `${conflicts}\n`)
})

await Effect.runPromise(Effect.scoped(main))
