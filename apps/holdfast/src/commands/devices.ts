/** `holdfast devices`: what holds chunk copies, and what an operator tells one of them. */
import { jsonFlag } from "@holdfast/process"
import { DeviceId, MetadataOperations, type Operation } from "@holdfast/wire"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { ask } from "../connection/ask.ts"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { blockersOf, chunkLimitFlag } from "../connection/observe-chunks.ts"
import { type DeviceStatusView, devicesOf } from "../connection/observe.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatAge, formatBytes, renderTable } from "../output/table.ts"

const devices = Command.make("devices").pipe(
  Command.withSharedFlags({ ...connectionFlags, json: jsonFlag })
)

const stateOf = ({ blocked, mode, openWrites = 0, state }: DeviceStatusView): string => {
  if (mode === "normal") return state
  const left = [
    ...(blocked === undefined ? [] : [`${blocked} left`]),
    ...(openWrites === 0 ? [] : [`${openWrites} writing`])
  ]
  return left.length === 0 ? `${state}, ${mode}` : `${state}, ${mode} (${left.join(", ")})`
}

const rowOf = (one: DeviceStatusView) => [
  one.deviceId,
  one.hostId,
  stateOf(one),
  one.copies,
  formatBytes(one.used),
  formatBytes(one.available),
  `${formatAge(one.lastHeardMs)} ago`
]

const deviceFlags = {
  deviceId: Argument.String("ID").pipe(
    Argument.withDescription("The device's id"),
    Argument.withSchema(DeviceId)
  )
}

/** A subcommand that tells the metadata service one thing about a device. */
const tell = <Response>(options: {
  readonly name: string
  readonly description: string
  readonly operation: Operation<{ readonly deviceId: DeviceId }, Response>
  /** What is done then, as JSON and in words. */
  readonly done: (deviceId: DeviceId, response: Response) => readonly [object, string]
}) => {
  const askOperation = ask(options.operation)
  return Command.make(options.name, deviceFlags, ({ deviceId }) =>
    Effect.gen(function* () {
      const { cluster, json } = yield* devices
      const response = yield* askOperation({ cluster, request: { deviceId } })
      const [facts, words] = options.done(deviceId, response)
      yield* writeLine(json ? toJson(facts) : words)
    })
  ).pipe(Command.withDescription(options.description))
}

const freeze = tell({
  name: "freeze",
  description: "Let no new chunk go to a device; what it holds is read on",
  operation: MetadataOperations.freeze,
  done: (deviceId) => [{ deviceId, frozen: true }, `${deviceId} is frozen: no new chunk goes to it`]
})

const thaw = tell({
  name: "thaw",
  description: "The opposite of freeze, drain and offline",
  operation: MetadataOperations.thaw,
  done: (deviceId) => [{ deviceId, frozen: false }, `${deviceId} takes new chunks again`]
})

const drain = tell({
  name: "drain",
  description: "Copy what a device holds to others, then take it out",
  operation: MetadataOperations.drain,
  done: (deviceId, { belowGoal }) => [
    { deviceId, belowGoal },
    `${deviceId} is draining; chunks short of a copy now: ${belowGoal}\n` +
      `what keeps it: holdfast devices blocked ${deviceId}`
  ]
})

const offline = tell({
  name: "offline",
  description: "Take a device out at once: its copies count for nothing until it is thawed",
  operation: MetadataOperations.offline,
  done: (deviceId, { belowGoal }) => [
    { deviceId, belowGoal },
    `${deviceId} is offline; chunks short of a copy now: ${belowGoal}`
  ]
})

const remove = tell({
  name: "remove",
  description: "Forget a device that was drained or taken offline and is served no more",
  operation: MetadataOperations.remove,
  done: (deviceId) => [{ deviceId, removed: true }, `${deviceId} is forgotten`]
})

const blockedFlags = { ...deviceFlags, limit: chunkLimitFlag }

const blocked = Command.make("blocked", blockedFlags, ({ deviceId, limit }) =>
  Effect.gen(function* () {
    const { cluster, json } = yield* devices
    const found = yield* blockersOf({ cluster, deviceId, limit })
    const { more } = found
    if (json) return yield* writeLine(toJson({ blockers: found.found, more }))
    if (found.found.length === 0) return yield* writeLine(`nothing keeps ${deviceId}`)
    const rows = found.found.map(({ chunk, reason, sentence }) => [
      `${chunk.fileId}/${chunk.chunkId}`,
      reason,
      sentence
    ])
    yield* writeLine(renderTable(["chunk", "reason", "in words"], rows))
    if (more) yield* writeLine(`and more; --limit shows more than ${limit}`)
  })
).pipe(Command.withDescription("What keeps a draining device, chunk by chunk"))

/** `holdfast devices`, and what an operator tells one: `holdfast devices drain ID` and so on. */
export const devicesCommand = devices.pipe(
  Command.withHandler(({ cluster, json }) =>
    Effect.gen(function* () {
      const found = yield* devicesOf(cluster)
      if (json) return yield* writeLine(toJson(found))
      const headings = ["device", "host", "state", "copies", "used", "available", "heard"]
      yield* writeLine(renderTable(headings, found.map(rowOf)))
    })
  ),
  Command.withDescription("The devices that hold chunk copies"),
  Command.withSubcommands([drain, freeze, thaw, offline, remove, blocked]),
  Command.provide((options) => connectedLayer(options))
)
