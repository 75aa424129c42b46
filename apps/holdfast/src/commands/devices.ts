/** `holdfast devices`: what holds chunk copies, and what an operator tells one of them. */
import { jsonFlag } from "@holdfast/process"
import { DeviceId, MetadataOperations } from "@holdfast/wire"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ask } from "../connection/ask.ts"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { blockersOf } from "../connection/observe-chunks.ts"
import { type DeviceStatusView, devicesOf } from "../connection/observe.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatAge, formatBytes, renderTable } from "../output/table.ts"

const devices = Command.make("devices").pipe(
  Command.withSharedFlags({ ...connectionFlags, json: jsonFlag })
)

const stateOf = ({ blocked, mode, state }: DeviceStatusView): string => {
  if (mode === "normal") return state
  return blocked === undefined ? `${state}, ${mode}` : `${state}, ${mode} (${blocked} left)`
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

const askFreeze = ask(MetadataOperations.freeze)
const askThaw = ask(MetadataOperations.thaw)
const askDrain = ask(MetadataOperations.drain)
const askOffline = ask(MetadataOperations.offline)
const askRemove = ask(MetadataOperations.remove)

const freeze = Command.make("freeze", deviceFlags, ({ deviceId }) =>
  Effect.gen(function* () {
    const { cluster, json } = yield* devices
    yield* askFreeze({ cluster, request: { deviceId } })
    const done = `${deviceId} is frozen: no new chunk goes to it`
    yield* writeLine(json ? toJson({ deviceId, frozen: true }) : done)
  })
).pipe(Command.withDescription("Let no new chunk go to a device; what it holds is read on"))

const thaw = Command.make("thaw", deviceFlags, ({ deviceId }) =>
  Effect.gen(function* () {
    const { cluster, json } = yield* devices
    yield* askThaw({ cluster, request: { deviceId } })
    const done = `${deviceId} takes new chunks again`
    yield* writeLine(json ? toJson({ deviceId, frozen: false }) : done)
  })
).pipe(Command.withDescription("The opposite of freeze, drain and offline"))

const drain = Command.make("drain", deviceFlags, ({ deviceId }) =>
  Effect.gen(function* () {
    const { cluster, json } = yield* devices
    const { belowGoal } = yield* askDrain({ cluster, request: { deviceId } })
    const done =
      `${deviceId} is draining; chunks short of a copy now: ${belowGoal}\n` +
      `what keeps it: holdfast devices blocked ${deviceId}`
    yield* writeLine(json ? toJson({ deviceId, belowGoal }) : done)
  })
).pipe(Command.withDescription("Copy what a device holds to others, then take it out"))

const offline = Command.make("offline", deviceFlags, ({ deviceId }) =>
  Effect.gen(function* () {
    const { cluster, json } = yield* devices
    const { belowGoal } = yield* askOffline({ cluster, request: { deviceId } })
    const done = `${deviceId} is offline; chunks short of a copy now: ${belowGoal}`
    yield* writeLine(json ? toJson({ deviceId, belowGoal }) : done)
  })
).pipe(
  Command.withDescription(
    "Take a device out at once: its copies count for nothing until it is thawed"
  )
)

const remove = Command.make("remove", deviceFlags, ({ deviceId }) =>
  Effect.gen(function* () {
    const { cluster, json } = yield* devices
    yield* askRemove({ cluster, request: { deviceId } })
    yield* writeLine(json ? toJson({ deviceId, removed: true }) : `${deviceId} is forgotten`)
  })
).pipe(
  Command.withDescription("Forget a device that was drained or taken offline and is served no more")
)

const blockedFlags = {
  ...deviceFlags,
  limit: Flag.Int("limit").pipe(
    Flag.withDescription("Chunks to show at most (100)"),
    Flag.withDefault(100)
  )
}

const blocked = Command.make("blocked", blockedFlags, ({ deviceId, limit }) =>
  Effect.gen(function* () {
    const { cluster, json } = yield* devices
    const found = yield* blockersOf({ cluster, deviceId, limit: Math.max(1, limit) })
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
