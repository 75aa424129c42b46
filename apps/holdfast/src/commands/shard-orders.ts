/** What an operator orders about one shard: `holdfast shards pause`, `resume`, `move`, `reset`. */
import { failure } from "@holdfast/process"
import { type Operation, WorkerId, WorkerOperations } from "@holdfast/wire"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ask } from "../connection/ask.ts"
import { workersOf } from "../connection/observe.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { shards } from "./shards-flags.ts"

const shardFlags = {
  shard: Argument.String("SHARD").pipe(
    Argument.withDescription("The shard, as `holdfast shards` names it")
  )
}

/** Whom to tell: the owner, or for what concerns the claim alone, any worker that sees it. */
const workerFor = Effect.fnUntraced(function* (
  cluster: string,
  shard: string,
  needs: "owner" | "claim"
) {
  const workers = yield* workersOf(cluster)
  const owner = workers.find((one) => one.shards.some((held) => held.shard === shard))
  const witness = workers.find((one) => one.leases.some((lease) => lease.shard === shard))
  const found = owner ?? (needs === "claim" ? witness : undefined)
  if (found !== undefined) return found.worker
  return yield* failure(
    witness === undefined
      ? `no worker has heard of the shard "${shard}"; \`holdfast shards\` lists them`
      : `nobody works on the shard "${shard}" now, so there is nobody to take it from`
  )
})

const tell = Effect.fnUntraced(function* <Request extends { readonly shard: string }>(options: {
  readonly operation: Operation<Request, object>
  readonly request: Request
  readonly needs: "owner" | "claim"
  readonly facts: object
  readonly words: string
}) {
  const { facts, needs, operation, request, words } = options
  const { cluster, json } = yield* shards
  const instance = yield* workerFor(cluster, request.shard, needs)
  yield* ask(operation)({ cluster, instance, request })
  yield* writeLine(json ? toJson({ shard: request.shard, ...facts }) : words)
})

const { moveShard, pauseShard, resetShard, resumeShard } = WorkerOperations

/** `holdfast shards pause SHARD`. */
export const pauseCommand = Command.make("pause", shardFlags, ({ shard }) =>
  tell({
    operation: pauseShard,
    request: { shard },
    needs: "claim",
    facts: { paused: true },
    words: `${shard} is paused: its worker finishes what is in flight and lets it go`
  })
).pipe(Command.withDescription("Let a shard rest: flushed, let go, taken by nobody"))

/** `holdfast shards resume SHARD`. */
export const resumeCommand = Command.make("resume", shardFlags, ({ shard }) =>
  tell({
    operation: resumeShard,
    request: { shard },
    needs: "claim",
    facts: { paused: false },
    words: `${shard} goes on with the next worker that takes it`
  })
).pipe(Command.withDescription("Let a paused shard go on"))

const moveFlags = {
  ...shardFlags,
  to: Flag.String("to").pipe(
    Flag.withDescription("The worker that is to have it"),
    Flag.withSchema(WorkerId)
  )
}

/** `holdfast shards move SHARD --to WORKER`. */
export const moveCommand = Command.make("move", moveFlags, ({ shard, to }) =>
  tell({
    operation: moveShard,
    request: { shard, to },
    needs: "owner",
    facts: { to },
    words: `${shard} goes to ${to}, as soon as what is in flight is finished`
  })
).pipe(Command.withDescription("Hand a shard to another worker; balance is kept after that, too"))

const resetFlags = {
  ...shardFlags,
  after: Flag.String("after").pipe(
    Flag.withDescription("Go on behind this position: what is above it comes again"),
    Flag.optional
  ),
  oldest: Flag.Boolean("oldest").pipe(
    Flag.withDescription("Go on at the oldest record that there is"),
    Flag.withDefault(false)
  )
}

const placeOf = (after: Option.Option<string>, oldest: boolean) => {
  if (oldest !== Option.isSome(after)) {
    if (oldest) return Effect.succeed(undefined)
    const typed = Option.getOrElse(after, () => "")
    if (/^\d{1,78}$/.test(typed)) return Effect.succeed(BigInt(typed))
  }
  return Effect.fail(
    failure("say where the shard is to go on: either --after POSITION, such as 1200, or --oldest")
  )
}

/** `holdfast shards reset SHARD --after POSITION`. */
export const resetCommand = Command.make("reset", resetFlags, ({ after, oldest, shard }) =>
  Effect.gen(function* () {
    const place = yield* placeOf(after, oldest)
    const where = place === undefined ? "at its oldest record" : `behind position ${place}`
    yield* tell({
      operation: resetShard,
      request: { shard, ...(place === undefined ? {} : { after: place }) },
      needs: "claim",
      facts: { after: place === undefined ? null : place.toString() },
      words: `${shard} goes on ${where} when it is resumed: \`holdfast shards resume ${shard}\``
    })
  })
).pipe(Command.withDescription("Set where a paused shard goes on"))
