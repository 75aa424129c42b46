/**
 * A cluster whose users may do what docs/permissions.md says, on a server that enforces exactly
 * those lines: it archives and reads, and what is not allowed is refused.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import { connect, type NatsConnection, PermissionViolationError } from "@nats-io/transport-node"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type NatsServer, startNatsServer } from "./nats-server.ts"
import { eventually, holdfast, root } from "./process.ts"
import { type ServiceCluster, startServices } from "./service-cluster.ts"

const users = ["metadata", "chunk-server", "peer", "worker", "reader", "operator"] as const
type User = (typeof users)[number]
const passwordOf = (user: User): string => `secret-of-${user}`
const variableOf = (user: User): string => `${user.toUpperCase().replace("-", "_")}_PASSWORD`

const documented = (): string => {
  const page = readFileSync(join(root, "docs", "permissions.md"), "utf8")
  const lines = /```conf\n([\s\S]*?)```/.exec(page)?.[1]
  if (lines === undefined) throw new Error("docs/permissions.md has no block of configuration")
  return lines
}

let server: NatsServer
let cluster: ServiceCluster

const access = (user: User): ReadonlyArray<string> => [
  "--cluster",
  "prod",
  "--nats",
  server.url,
  "--user",
  user,
  "--inbox-prefix",
  `_INBOX_${user}`
]

const as = (user: User, ...args: ReadonlyArray<string>) =>
  holdfast([...args, ...access(user)], {
    environment: { HOLDFAST_NATS_PASSWORD: passwordOf(user) }
  })

const dial = (user: User): Promise<NatsConnection> =>
  connect({
    servers: server.url,
    user,
    pass: passwordOf(user),
    inboxPrefix: `_INBOX_${user}`,
    noAsyncTraces: true
  })

beforeAll(async () => {
  const passwords = users.map((user) => [variableOf(user), passwordOf(user)] as const)
  server = await startNatsServer(documented(), Object.fromEntries(passwords))
  cluster = await startServices({
    flags: (service) => access(service),
    environment: (service) => ({ HOLDFAST_NATS_PASSWORD: passwordOf(service) })
  })
}, 240_000)

afterAll(async () => {
  await cluster?.stop()
  await server?.stop()
})

const records = 300

it("archives, searches and reads with these users", async () => {
  const connection = await dial("operator")
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: "ORDERS", subjects: ["orders.>"] })
  const stream = jetstream(connection)
  for (let index = 0; index < records; index += 1) {
    await stream.publish(`orders.${index % 2 === 0 ? "eu" : "us"}`, JSON.stringify({ index }))
  }
  await connection.close()
  const rules = ["--tag", "region=subject:1", "--tag", "index=json:index,number"]
  const settings = ["--segment-age-ms", "200", "--dead-letter", "ORDERS_DEAD"]
  const added = await as("operator", "archive", "add", "ORDERS", ...rules, ...settings)
  expect(added.stderr).toBe("")
  const read = await eventually(
    "the reader reads every record",
    async () => {
      const { stdout } = await as("reader", "read", "ORDERS", "--raw")
      const lines = stdout.split("\n").filter((line) => line !== "")
      return lines.length === records ? lines : undefined
    },
    60_000
  ).catch((cause: unknown) => {
    throw new Error(cluster.stories(), { cause })
  })
  expect(read.map((line) => (JSON.parse(line) as { index: number }).index)).toEqual(
    Array.from({ length: records }, (_, index) => index)
  )
  const found = await as("reader", "search", "ORDERS", "--tag", "region=eu", "--count", "--json")
  expect(found).toMatchObject({ status: 0, stdout: `{"count":${records / 2}}\n` })
  const verified = await as("operator", "verify", "ORDERS")
  expect(verified.status, verified.stderr).toBe(0)
  expect(cluster.stories()).not.toMatch(/violation/i)
}, 150_000)

it("stays ready: no service lacks what it needs to ask", async () => {
  cluster.processes.get("w1")?.kill("SIGKILL")
  await cluster.processes.get("w1")?.exited
  await cluster.restart("w1")
  expect(cluster.stories()).not.toMatch(/violation/i)
  const status = await as("reader", "status", "--json")
  expect(status.status, status.stderr).toBe(0)
}, 60_000)

it("lets a worker make the stream of dead letters and put one there", async () => {
  const connection = await dial("worker")
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false })
    await manager.streams.add({ name: "ORDERS_DEAD", subjects: ["ORDERS_DEAD.>"] })
    const put = await jetstream(connection).publish("ORDERS_DEAD.orders.eu", "{}")
    expect(put.stream).toBe("ORDERS_DEAD")
  } finally {
    await connection.close()
  }
})

/** One publish that each user is not allowed. */
const forbidden: ReadonlyArray<readonly [User, string]> = [
  ["metadata", "holdfast.prod.peer.request"],
  ["chunk-server", "holdfast.prod.metadata.drain"],
  ["chunk-server", "holdfast.prod.metadata.free"],
  ["peer", "holdfast.prod.metadata.heartbeat"],
  ["worker", "holdfast.prod.metadata.heartbeat"],
  ["worker", "holdfast.prod.peer.merge"],
  ["worker", "orders.eu"],
  ["worker", "$JS.API.STREAM.DELETE.ORDERS"],
  ["worker", "$JS.API.STREAM.PURGE.KV_holdfast-prod-leases"],
  ["reader", "holdfast.prod.peer.request"],
  ["reader", "holdfast.prod.metadata.free"],
  ["operator", "_INBOX_worker.forged"]
]

it.each(forbidden)("refuses %s a publish to %s", async (user, subject) => {
  const connection = await dial(user)
  try {
    const refused = new Promise<unknown>((resolve) => {
      void (async () => {
        for await (const status of connection.status()) {
          if (status.type === "error") return resolve(status.error)
        }
      })()
    })
    connection.publish(subject, "{}")
    const error = await refused
    expect(error).toBeInstanceOf(PermissionViolationError)
    expect(String(error)).toContain(subject)
  } finally {
    await connection.close()
  }
})

it.each([
  ["reader", "_INBOX_worker.>"],
  ["peer", "holdfast.prod.metadata.>"],
  ["worker", "orders.>"]
] as const)("refuses %s to listen to %s", async (user, subject) => {
  const connection = await dial(user)
  try {
    const subscription = connection.subscribe(subject)
    await expect(subscription.closed).resolves.toBeInstanceOf(PermissionViolationError)
  } finally {
    await connection.close()
  }
})

it("says with a sentence that a reader may not change an archive", async () => {
  const refused = await as("reader", "archive", "pause", "ORDERS")
  expect(refused.status).toBe(1)
  expect(refused.stderr).toMatch(/permission|not permit|denied/i)
  expect(refused.stderr).not.toMatch(/\n\s+at /)
})
