/** The contract of the data path again, over TLS with certificates on both sides. */
import { describeChunkTransportContract } from "@holdfast/suites"
import { makeAuthority } from "@holdfast/suites/certificates"
import { Effect, Layer } from "effect"
import { followTlsFiles, layerChunkEndpointWith, layerChunkTransportWith } from "./index.ts"
import { certificateFolder } from "./testing/certificate-files.ts"

const authority = makeAuthority()
const own = authority.issue({ names: ["127.0.0.1"] })

describeChunkTransportContract({
  name: "HTTP over TLS",
  layer: Layer.unwrap(
    Effect.gen(function* () {
      const folder = yield* certificateFolder
      const files = yield* followTlsFiles(folder.writeAll("own", { ca: authority.cert, own }))
      return Layer.merge(
        layerChunkTransportWith({ tls: files }),
        layerChunkEndpointWith({ tls: { files, demandsClientCertificate: true } })
      )
    })
  ),
  deadUrl: "https://127.0.0.1:1",
  bytesAheadMax: 16 * 1024 * 1024
})
