import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "@effect/vitest"
import { MemoryNetwork } from "@holdfast/adapter-memory"
import { describeMessagingContract } from "@holdfast/suites"
import { Effect, Exit, Layer, Scope } from "effect"
import { layerLoopbackMessaging, serveLoopback } from "./index.ts"

const directory = mkdtempSync(join(tmpdir(), "holdfast-loopback-"))
const accessFile = join(directory, "access.json")
const network = await Effect.runPromise(
  Effect.scoped(MemoryNetwork.make({ maxPayloadBytes: 65_536 }))
)

let serving = Scope.makeUnsafe()
const disconnect = Effect.suspend(() => Scope.close(serving, Exit.void))
const reconnect = Effect.suspend(() => {
  serving = Scope.makeUnsafe()
  return Layer.build(Layer.fresh(MemoryNetwork.layer(network, "embedded"))).pipe(
    Effect.flatMap((context) =>
      serveLoopback({ accessFile, port: 0, requestsMax: 64 }).pipe(Effect.provide(context))
    ),
    Scope.provide(serving)
  )
})

await Effect.runPromise(reconnect)
afterAll(async () => {
  await Effect.runPromise(disconnect)
  rmSync(directory, { recursive: true })
})

describeMessagingContract({
  name: "loopback HTTP before memory",
  layer: MemoryNetwork.layer(network, "responder"),
  requester: layerLoopbackMessaging({ accessFile }),
  cut: { disconnect, reconnect }
})
