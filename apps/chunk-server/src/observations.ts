/** What a chunk server that runs says of itself; its own status is asked at each scrape. */
import type { Messaging } from "@holdfast/messaging"
import { missingAnswers, type Observations, probe } from "@holdfast/process"
import {
  ChunkServerOperations,
  type ClusterId,
  type HostId,
  MetadataOperations
} from "@holdfast/wire"
import { type Context, Effect, Metric, Option } from "effect"

const askSelf = probe(ChunkServerOperations.chunkServerStatus)
const askMetadata = probe(MetadataOperations.status)

const gauge = (name: string, description: string) =>
  Metric.gauge(`holdfast_chunk_server_${name}`, { description })

const devices = gauge("devices", "devices of this server, by state")
const copies = gauge("copies", "chunk copies on a device")
const used = gauge("used_bytes", "bytes of chunk copies on a device")
const available = gauge("available_bytes", "bytes that a device can still take")
const waiting = gauge("commands_waiting", "commands of the metadata service under way, by kind")
const silence = gauge(
  "heartbeat_age_seconds",
  "time since the metadata service last took a heartbeat; -1 before the first"
)

type Status = typeof ChunkServerOperations.chunkServerStatus.response.Type
type Device = Status["devices"][number]

const states: ReadonlyArray<Device["state"]> = ["serving", "refused", "failed"]

const show = (metric: typeof devices, label: string, name: string, value: number) =>
  Metric.update(Metric.withAttributes(metric, { [label]: name }), value)

const showDevice = (device: Device): Effect.Effect<void> => {
  const { deviceId } = device
  if (deviceId === undefined) return Effect.void
  return Effect.all(
    [
      show(copies, "device", deviceId, device.copies),
      show(used, "device", deviceId, device.used),
      show(available, "device", deviceId, device.available)
    ],
    { discard: true }
  )
}

const showStatus = (status: Status): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (const state of states) {
      const count = status.devices.filter((device) => device.state === state).length
      yield* show(devices, "state", state, count)
    }
    yield* Effect.forEach(status.devices, showDevice, { discard: true })
    for (const [kind, count] of Object.entries(status.commands)) {
      yield* show(waiting, "kind", kind, count)
    }
    const { lastHeartbeatMs } = status
    yield* Metric.update(silence, lastHeartbeatMs === undefined ? -1 : lastHeartbeatMs / 1_000)
  })

/** It is ready when it answers and a metadata service is there to be told of its copies. */
export const observeChunkServer = (options: {
  readonly cluster: ClusterId
  readonly host: HostId
  readonly context: Context.Context<Messaging>
}): Observations => {
  const { cluster, context, host } = options
  const self = askSelf({ cluster, instance: host, request: {} })
  return {
    missing: missingAnswers({
      [`chunk server ${host} does not answer`]: self,
      "no metadata service answers": askMetadata({ cluster, request: {} })
    }).pipe(Effect.provide(context)),
    collect: self.pipe(
      Effect.flatMap(Option.match({ onNone: () => Effect.void, onSome: showStatus })),
      Effect.provide(context)
    )
  }
}
