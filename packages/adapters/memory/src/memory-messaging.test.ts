import { describeMessagingContract } from "@holdfast/suites"
import { Effect } from "effect"
import { MemoryNetwork } from "./memory-network.ts"

const network = await Effect.runPromise(
  Effect.scoped(MemoryNetwork.make({ maxPayloadBytes: 65_536 }))
)

describeMessagingContract({
  name: "memory",
  layer: MemoryNetwork.layer(network, "responder"),
  requester: MemoryNetwork.layer(network, "requester"),
  cut: {
    disconnect: network.apply({ _tag: "Disconnect", node: "requester" }),
    reconnect: network.apply({ _tag: "Reconnect", node: "requester" })
  }
})
