/** `holdfast partitions request`, `read` and `index`: what applications are asked and told. */
import { PeerClient } from "@holdfast/client"
import { failure } from "@holdfast/process"
import { parseTag, showTag } from "@holdfast/tag-index"
import { PeerOperations } from "@holdfast/wire"
import { Effect, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { toJson, writeLine } from "../output/standard-output.ts"
import { renderTable } from "../output/table.ts"
import { keyArgument, partitions } from "./partitions-flags.ts"

const readEvent = (text: string) =>
  Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: () => failure(`--event ${text} is no JSON; right would be such as --event 5 or '"x"'`)
  })

const requestFlags = {
  key: keyArgument,
  event: Flag.String("event").pipe(
    Flag.withDescription("An event, as JSON of the application's schema; repeatable, in order"),
    Flag.between(1, 1_000)
  ),
  concern: Flag.Literals("concern", PeerOperations.WriteConcern.literals).pipe(
    Flag.withDescription("How many must hold it durably before it is answered"),
    Flag.withDefault("majority" as const)
  ),
  requestId: Flag.String("request-id").pipe(
    Flag.withDescription("Names the request: sent again under the same name, it counts once"),
    Flag.optional
  )
}

/** `holdfast partitions request KEY --event JSON`. */
export const requestCommand = Command.make("request", requestFlags, (options) =>
  Effect.gen(function* () {
    const { application, json } = yield* partitions
    const peers = yield* PeerClient
    const outputs = yield* peers.request({
      application,
      key: options.key,
      events: yield* Effect.forEach(options.event, readEvent),
      writeConcern: options.concern,
      requestId: Option.getOrUndefined(options.requestId)
    })
    if (json) return yield* writeLine(toJson({ outputs }))
    for (const output of outputs) yield* writeLine(JSON.stringify(output))
  })
).pipe(Command.withDescription("Apply events to a partition, all or none, and print the outputs"))

/** `holdfast partitions read KEY`. */
export const readCommand = Command.make("read", { key: keyArgument }, ({ key }) =>
  Effect.gen(function* () {
    const { application, json } = yield* partitions
    const peers = yield* PeerClient
    const state = yield* peers.read({ application, key })
    if (state === null) return yield* failure(`${application} has no partition ${key}`)
    yield* writeLine(json ? toJson({ key, state }) : JSON.stringify(state, null, 2))
  })
).pipe(Command.withDescription("Print the state of a partition, as one of its owners has it"))

const indexFlags = {
  from: Flag.String("from").pipe(
    Flag.withDescription("The first tag; bytes that are no text as \\xNN"),
    Flag.withDefault("")
  ),
  to: Flag.String("to").pipe(
    Flag.withDescription("The last tag, which counts; the same as --from if absent"),
    Flag.optional
  ),
  state: Flag.Boolean("state").pipe(
    Flag.withDescription("The partitions' states, too"),
    Flag.withDefault(false)
  )
}

const tagOf = (text: string) =>
  Effect.mapError(Effect.fromResult(parseTag(text)), ({ message }) => failure(message))

/** `holdfast partitions index --from TAG --to TAG`. */
export const indexCommand = Command.make("index", indexFlags, (options) =>
  Effect.gen(function* () {
    const { application, json } = yield* partitions
    const peers = yield* PeerClient
    const from = yield* tagOf(options.from)
    const upTo = yield* tagOf(Option.getOrElse(options.to, () => options.from))
    const found = peers.walk({ application, from, upTo, withState: options.state })
    if (json) {
      return yield* Stream.runForEach(found, ({ key, state, tag }) =>
        writeLine(JSON.stringify({ tag: showTag(tag), key, ...(options.state ? { state } : {}) }))
      )
    }
    const records = yield* Stream.runCollect(found)
    yield* writeLine(
      renderTable(
        ["tag", "partition", ...(options.state ? ["state"] : [])],
        records.map(({ key, state, tag }) => [
          showTag(tag),
          key,
          ...(options.state ? [JSON.stringify(state)] : [])
        ])
      )
    )
  })
).pipe(Command.withDescription("Walk the index over all partitions, in the order of tag and key"))
