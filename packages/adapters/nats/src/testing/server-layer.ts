/** Layers over a server that a test file starts before its tests and stops after them. */
import { afterAll, beforeAll } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { NatsConnections } from "../connections.ts"
import type { NatsOptions } from "../nats-options.ts"
import { type NatsServer, type NatsServerOptions, startNatsServer } from "./nats-server.ts"

/** A server for the tests of one file; `server` may be called inside tests only. */
export const useNatsServer = (options: NatsServerOptions = {}) => {
  let running: NatsServer | undefined
  beforeAll(async () => {
    running = await startNatsServer(options)
  })
  afterAll(async () => {
    await running?.stop()
  })
  const server = (): NatsServer => {
    if (running === undefined) throw new Error("the server runs only while tests run")
    return running
  }
  const connections = (more: Partial<NatsOptions> = {}) =>
    Layer.unwrap(
      Effect.sync(() =>
        NatsConnections.layer({ ...quickOptions, servers: [server().url], ...more })
      )
    )
  return { server, connections }
}

/** Options with the patience of a test. */
export const quickOptions = {
  name: "test",
  connectDeadline: "3 seconds",
  closeDeadline: "1 second",
  reconnectWait: "50 millis",
  pingInterval: "500 millis"
} as const
