import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { ensureStream } from "./ensure-stream.ts"
import { openConnection } from "./managed-connection.ts"
import { makeRecordPublisher } from "./record-publisher.ts"
import { firstOrders } from "./testing/readme-example.ts"
import { quickOptions, useNatsServer } from "./testing/server-layer.ts"
import { numbered } from "./testing/stream-bench.ts"

const { server } = useNatsServer()
const fileOf = (path: string) =>
  Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))

describe("the README's example", () => {
  it.live("is the file that runs here, and reads the first records of a stream", () =>
    Effect.gen(function* () {
      const readme = yield* fileOf("../README.md")
      const example = /```ts\n([^]*?)```/.exec(readme)?.[1]
      assert.strictEqual(example, yield* fileOf("./testing/readme-example.ts"))
      const connection = yield* openConnection({ ...quickOptions, servers: [server().url] }, "t")
      yield* ensureStream(connection, { stream: "ORDERS", subjects: ["orders.>"] })
      const publisher = yield* makeRecordPublisher(connection, { stream: "ORDERS" })
      yield* publisher.publish(numbered("orders.new", 1, 42))
      assert.deepStrictEqual(yield* firstOrders(server().url), [{ position: 1n, text: "42" }])
    })
  )
})
