import { describeChunkTransportContract } from "@holdfast/suites"
import { Layer } from "effect"
import { layerChunkEndpoint, layerChunkTransport } from "./index.ts"

describeChunkTransportContract({
  name: "HTTP",
  layer: Layer.merge(layerChunkTransport, layerChunkEndpoint),
  deadUrl: "http://127.0.0.1:1",
  bytesAheadMax: 16 * 1024 * 1024
})
