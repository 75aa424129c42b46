/** What an operator does to devices while everything else goes wrong, too. */
import { DeviceId, makeCaller, makeRequestId, MetadataOperations } from "@holdfast/wire"
import { Effect, Schedule } from "effect"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import { clusterId } from "../cluster/site.ts"
import type { Fault } from "./fault.ts"

const calls = {
  freeze: makeCaller(MetadataOperations.freeze),
  thaw: makeCaller(MetadataOperations.thaw),
  drain: makeCaller(MetadataOperations.drain)
}

/** Fewer devices than these are never left for new copies. */
const devicesLeftMin = 3
const someTimes = { schedule: Schedule.spaced("1 second"), times: 5 }
const untilHealed = { schedule: Schedule.spaced("500 millis"), times: 100 }

const order = Effect.fnUntraced(function* (action: keyof typeof calls, device: string) {
  const request = { deviceId: DeviceId.make(device) }
  const requestId = yield* makeRequestId
  yield* calls[action]({ cluster: clusterId, request, deadline: "2 seconds", requestId })
})

/** Sends an order from the first client, several times when it is not answered. */
export const operate = (
  cluster: SimulatedCluster,
  { action, device }: Extract<Fault, { readonly _tag: "Operator" }>
): void => {
  const { clients, devices, site } = cluster
  const [client] = clients
  const services = client?.service
  if (services === undefined || site.retired.has(device)) return
  if (action === "drain") {
    if (devices.length - site.retired.size <= devicesLeftMin) return
    site.retired.add(device)
  }
  const ordered = Effect.ignore(Effect.retry(order(action, device), someTimes))
  client?.fork(Effect.provideContext(ordered, services))
}

/** Lets all devices be used again that are not drained: a freezing may have come unanswered. */
export const thawAll = ({ devices, site }: SimulatedCluster) =>
  Effect.forEach(
    devices.filter((device) => !site.retired.has(device)),
    (device) => Effect.retry(order("thaw", device), untilHealed),
    { discard: true }
  )
