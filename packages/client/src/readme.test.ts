import { MemoryNetwork } from "@holdfast/adapter-memory"
import { assert, it } from "@effect/vitest"
import { loadReadmeExample } from "@holdfast/suites"
import { Effect, Schema } from "effect"
import type { ArchiveClient } from "./index.ts"
import { makeWithArchive, range } from "./testing/with-archive.ts"

const network = Effect.map(MemoryNetwork.make({ maxPayloadBytes: 1_048_576 }), (made) => ({
  services: MemoryNetwork.layer(made, "services"),
  client: MemoryNetwork.layer(made, "client")
}))

const Example = Schema.Struct({
  payloadsOfKind: Schema.declare(
    (given): given is (kind: string) => Effect.Effect<unknown, unknown, ArchiveClient> =>
      typeof given === "function"
  )
})

it.live("the example of the README finds what it says", () =>
  makeWithArchive(network)(({ seal }) =>
    Effect.gen(function* () {
      yield* seal(range(1, 10))
      const example = yield* Effect.promise(() => loadReadmeExample(import.meta.url))
      const { payloadsOfKind } = yield* Schema.decodeUnknownEffect(Example)(example)
      const found = yield* payloadsOfKind("kind-3")
      assert.deepStrictEqual(found, ['{"at":3,"kind":"kind-3"}', '{"at":8,"kind":"kind-3"}'])
    })
  )
)
