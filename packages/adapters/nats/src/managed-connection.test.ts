import { assert, describe, it } from "@effect/vitest"
import { nkeys } from "@nats-io/transport-node"
import { Duration, Effect, Exit, Redacted, Scope } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openConnection } from "./managed-connection.ts"
import { makeNatsMessaging } from "./nats-messaging.ts"
import { freePort } from "./testing/nats-server.ts"
import { quickOptions, useNatsServer } from "./testing/server-layer.ts"

const nkeyUser = nkeys.createUser()
const nkeySeed = new TextDecoder().decode(nkeyUser.getSeed())
const { server } = useNatsServer({
  configuration: [
    "authorization { users: [",
    '  { user: "ada", password: "secret", permissions: {',
    '      publish: ["open.>", "_INBOX.>"], subscribe: ["open.>", "_INBOX.>"] } }',
    `  { nkey: "${nkeyUser.getPublicKey()}" }`,
    "] }"
  ].join("\n")
})
const known = { user: "ada", password: Redacted.make("secret") }

const temporaryDirectory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "holdfast-nats-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true }))
)

const silentServer = Effect.acquireRelease(
  Effect.promise(
    () =>
      new Promise<{ readonly listener: Server; readonly port: number }>((resolve) => {
        const listener = createServer(() => undefined)
        listener.listen(0, "127.0.0.1", () => {
          const address = listener.address()
          if (address !== null && typeof address === "object") {
            resolve({ listener, port: address.port })
          }
        })
      })
  ),
  ({ listener }) => Effect.sync(() => listener.close())
)

const failure = (options: Parameters<typeof openConnection>[0]) =>
  Effect.flip(openConnection(options, "test")).pipe(Effect.timed)

describe("connecting", () => {
  it.live("a port where nothing listens is unreachable, at once", () =>
    Effect.gen(function* () {
      const port = yield* Effect.promise(freePort)
      const [, error] = yield* failure({ ...quickOptions, servers: [`127.0.0.1:${port}`] })
      assert.strictEqual(error.code, "unreachable")
      assert.include(error.message, `127.0.0.1:${port}`)
    })
  )

  it.live("a server that accepts and never speaks is unreachable within the deadline", () =>
    Effect.gen(function* () {
      const { port } = yield* silentServer
      const [waited, error] = yield* failure({
        ...quickOptions,
        servers: [`127.0.0.1:${port}`],
        connectDeadline: "300 millis"
      })
      assert.strictEqual(error.code, "unreachable")
      assert.isBelow(Duration.toMillis(waited), 2_000)
    })
  )

  it.live("wrong credentials are denied with a sentence that says what to check", () =>
    Effect.gen(function* () {
      const [, error] = yield* failure({
        ...quickOptions,
        servers: [server().url],
        user: "ada",
        password: Redacted.make("guess")
      })
      assert.strictEqual(error.code, "denied")
      assert.match(error.message, /refused this client.*check the credentials/)
    })
  )

  it.live("a credentials file that does not exist is an invalid option", () =>
    Effect.gen(function* () {
      const [, error] = yield* failure({
        ...quickOptions,
        servers: [server().url],
        credentialsFile: "/nonexistent/user.creds"
      })
      assert.strictEqual(error.code, "invalid")
      assert.include(error.message, "/nonexistent/user.creds")
    })
  )

  it.live("the second server of the list is taken when the first is down", () =>
    Effect.gen(function* () {
      const port = yield* Effect.promise(freePort)
      const connection = yield* openConnection(
        { ...quickOptions, ...known, servers: [`127.0.0.1:${port}`, server().url] },
        "test"
      )
      assert.strictEqual(connection.state(), "connected")
    })
  )

  it.live("a subject that the server does not permit is denied to serve and to request", () =>
    Effect.gen(function* () {
      const connection = yield* openConnection(
        { ...quickOptions, ...known, servers: [server().url] },
        "test"
      )
      const messaging = makeNatsMessaging(connection)
      const data = new Uint8Array(0)
      const serve = (subject: string) =>
        messaging.serve({ subject, concurrency: 1, backlog: 0 }, () =>
          Effect.succeed({ headers: {}, data })
        )
      yield* serve("open.door")
      yield* messaging.request({ subject: "open.door", data, deadline: "5 seconds" })
      const served = yield* Effect.flip(serve("shut.door"))
      const asked = yield* Effect.flip(
        messaging.request({ subject: "shut.door", data, deadline: "5 seconds" })
      )
      assert.deepStrictEqual([served.code, asked.code], ["denied", "denied"])
    })
  )

  it.live("a user is known by an nkey seed file", () =>
    Effect.gen(function* () {
      const seedFile = join(yield* temporaryDirectory, "user.nk")
      yield* Effect.promise(() => writeFile(seedFile, `${nkeySeed}\n`))
      const connection = yield* openConnection(
        { ...quickOptions, servers: [server().url], nkeySeedFile: seedFile, inboxPrefix: "_mine" },
        "test"
      )
      assert.strictEqual(connection.state(), "connected")
      assert.match(connection.newInbox(), /^_mine\./)
    })
  )

  it.live("closing does not wait for a frozen server longer than its deadline", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      yield* openConnection(
        { ...quickOptions, ...known, servers: [server().url], closeDeadline: "200 millis" },
        "test"
      ).pipe(Scope.provide(scope))
      yield* Effect.sync(() => server().freeze())
      yield* Scope.close(scope, Exit.void).pipe(
        Effect.timeout("5 seconds"),
        Effect.ensuring(Effect.sync(() => server().thaw()))
      )
    })
  )
})
