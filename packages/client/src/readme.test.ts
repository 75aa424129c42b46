import { MemoryNetwork } from "@holdfast/adapter-memory"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import type { ArchiveClient } from "./index.ts"
import { makeWithArchive, range } from "./testing/with-archive.ts"

const network = Effect.map(MemoryNetwork.make({ maxPayloadBytes: 1_048_576 }), (made) => ({
  services: MemoryNetwork.layer(made, "services"),
  client: MemoryNetwork.layer(made, "client")
}))

interface Example {
  readonly payloadsOfKind: (
    kind: string
  ) => Effect.Effect<ReadonlyArray<string>, unknown, ArchiveClient>
}

const loadExample = Effect.acquireRelease(
  Effect.sync(() => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
    const example = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? ""
    const file = new URL(`../readme-example-${process.pid}.tmp.ts`, import.meta.url)
    writeFileSync(file, example.replace('"@holdfast/client"', '"./src/index.ts"'))
    return file
  }),
  (file) => Effect.sync(() => rmSync(file))
).pipe(Effect.flatMap((file) => Effect.promise((): Promise<Example> => import(file.href))))

it.live("the example of the README finds what it says", () =>
  makeWithArchive(network)(({ seal }) =>
    Effect.gen(function* () {
      yield* seal(range(1, 10))
      const { payloadsOfKind } = yield* loadExample
      const found = yield* payloadsOfKind("kind-3")
      assert.deepStrictEqual(found, ['{"at":3,"kind":"kind-3"}', '{"at":8,"kind":"kind-3"}'])
    }).pipe(Effect.scoped)
  )
)
