/** `holdfast devices`: what holds chunk copies, and what an operator tells one of them. */
import { jsonFlag } from "@holdfast/process"
import { DeviceId, MetadataOperations } from "@holdfast/wire"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { ask } from "../connection/ask.ts"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { type DeviceStatusView, devicesOf } from "../connection/observe.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatAge, formatBytes, renderTable } from "../output/table.ts"

const devices = Command.make("devices").pipe(
  Command.withSharedFlags({ ...connectionFlags, json: jsonFlag })
)

const rowOf = (one: DeviceStatusView) => [
  one.deviceId,
  one.hostId,
  one.mode === "normal" ? one.state : `${one.state}, ${one.mode}`,
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
const askOffline = ask(MetadataOperations.offline)

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
).pipe(Command.withDescription("The opposite of freeze"))

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

/** `holdfast devices`, and `holdfast devices freeze|thaw|offline ID`. */
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
  Command.withSubcommands([freeze, thaw, offline]),
  Command.provide((options) => connectedLayer(options))
)
