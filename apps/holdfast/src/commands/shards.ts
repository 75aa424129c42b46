/** `holdfast shards`: how far each shard is, who works on it, and what holds it up. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { connectedLayer } from "../connection/connect.ts"
import { workersOf, type WorkerStatusView } from "../connection/observe.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { type Cell, formatAge, renderTable } from "../output/table.ts"
import { moveCommand, pauseCommand, resetCommand, resumeCommand } from "./shard-orders.ts"
import { shards as shardsBase } from "./shards-flags.ts"

/** A shard with its owner, as the command prints it. */
interface ShardView extends Partial<Omit<WorkerStatusView["shards"][number], "shard" | "state">> {
  readonly shard: string
  readonly owner: string | null
  /** `unowned`: nobody has a claim; `silent`: its owner does not answer; `paused`: by an order. */
  readonly state: WorkerStatusView["shards"][number]["state"] | "unowned" | "silent" | "paused"
  /** Positions between the checkpoint and the newest one; for numbers without gaps, records. */
  readonly lag?: bigint
}

/** Every shard that a worker reports, and every claim whose owner reports nothing. */
export const shardsOf = (workers: ReadonlyArray<WorkerStatusView>): ReadonlyArray<ShardView> => {
  const reported = workers.flatMap(({ shards, worker }) =>
    shards.map((one): ShardView => {
      const { checkpoint, newest } = one
      const lag = checkpoint === undefined || newest === undefined ? undefined : newest - checkpoint
      return { ...one, owner: worker, ...(lag === undefined || lag < 0n ? {} : { lag }) }
    })
  )
  const known = new Set(reported.map(({ shard }) => shard))
  const leases = new Map(
    workers.flatMap((worker) => worker.leases.map((lease) => [lease.shard, lease] as const))
  )
  const others = [...leases.values()]
    .filter(({ shard }) => !known.has(shard))
    .map(({ epoch, isPaused, owner = null, shard }): ShardView => {
      const free = isPaused === true ? "paused" : "unowned"
      return { shard, owner, epoch, state: owner === null ? free : "silent" }
    })
  return [...reported, ...others].sort((left, right) => (left.shard < right.shard ? -1 : 1))
}

const orDash = (value: bigint | number | undefined): Cell => value ?? "-"

const rowOf = (one: ShardView): ReadonlyArray<Cell> => {
  const oldest = one.oldestUnfinished
  return [
    one.shard,
    one.owner ?? "-",
    one.state,
    orDash(one.checkpoint),
    orDash(one.read),
    orDash(one.newest),
    orDash(one.lag),
    orDash(one.inFlight?.records),
    oldest === undefined ? "-" : `${oldest.position} (${formatAge(oldest.ageMs)})`
  ]
}

const headings = [
  "shard",
  "owner",
  "state",
  "checkpoint",
  "read",
  "newest",
  "lag",
  "in flight",
  "oldest unfinished"
]

/** The table, and below it in full what each shard says of its trouble. */
export const renderShards = (shards: ReadonlyArray<ShardView>): string => {
  const reasons = shards.flatMap(({ reason, shard, state }) =>
    reason === undefined ? [] : [`${shard} (${state}): ${reason}`]
  )
  const table = renderTable(headings, shards.map(rowOf))
  return reasons.length === 0 ? table : `${table}\n\n${reasons.join("\n")}`
}

/** `holdfast shards`, and what an operator orders about one: `holdfast shards pause SHARD` ... */
export const shardsCommand = shardsBase.pipe(
  Command.withHandler(({ cluster, json }) =>
    Effect.gen(function* () {
      const found = shardsOf(yield* workersOf(cluster))
      yield* writeLine(json ? toJson(found) : renderShards(found))
    })
  ),
  Command.withDescription("How far each shard is, who works on it, and what holds it up"),
  Command.withSubcommands([pauseCommand, resumeCommand, moveCommand, resetCommand]),
  Command.provide((options) => connectedLayer(options))
)
