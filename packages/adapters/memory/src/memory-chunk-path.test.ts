import { describeChunkTransportContract } from "@holdfast/suites"
import { Effect, Layer } from "effect"
import { MemoryChunkPath } from "./memory-chunk-path.ts"
import { MemoryNetwork } from "./memory-network.ts"

const layer = Layer.unwrap(
  Effect.map(MemoryNetwork.make(), (network) => {
    const path = MemoryChunkPath.make(network)
    return Layer.merge(
      MemoryChunkPath.layerTransport(path, "client"),
      MemoryChunkPath.layerEndpoint(path, "server")
    )
  })
)

describeChunkTransportContract({
  name: "memory",
  layer,
  deadUrl: "memory://127.0.0.1:1",
  bytesAheadMax: 2_000_000
})
