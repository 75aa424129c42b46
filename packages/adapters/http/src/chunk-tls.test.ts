/** Who is trusted on the data path, and what is said to whom that is not. */
import { once } from "node:events"
import { createServer } from "node:https"
import { connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { type ChunkTarget, ChunkTransport } from "@holdfast/storage"
import {
  type CertificateRequest,
  makeAuthority,
  type TestCertificate
} from "@holdfast/suites/certificates"
import { Effect, Layer, Option, Stream } from "effect"
import { followTlsFiles } from "./followed-tls.ts"
import { layerChunkEndpointWith, layerChunkTransport, layerChunkTransportWith } from "./index.ts"
import { type CertificateFolder, certificateFolder } from "./testing/certificate-files.ts"
import {
  chunk,
  goodCapability,
  patterned,
  type ServerFixture,
  startServer,
  summary
} from "./testing/chunk-server-fixture.ts"

const authority = makeAuthority()
const stranger = makeAuthority("another authority")
const here = { names: ["127.0.0.1"] }
const day = 86_400_000
const past = { notBefore: new Date(Date.now() - 2 * day), notAfter: new Date(Date.now() - day) }

interface Client {
  readonly requiresTls?: boolean
  readonly ca?: string
  readonly own?: TestCertificate
}

const clientLayer = (folder: CertificateFolder, client: Client | undefined) =>
  client === undefined
    ? Effect.succeed(layerChunkTransport)
    : Effect.map(followTlsFiles(folder.writeAll("client", client)), (tls) =>
        layerChunkTransportWith({ tls, requiresTls: client.requiresTls === true })
      )

/** A server with TLS; `demands` a certificate of its clients or not. */
const serve = (folder: CertificateFolder, demands: boolean) =>
  Effect.gen(function* () {
    const own = authority.issue(here)
    const files = yield* followTlsFiles(folder.writeAll("server", { ca: authority.cert, own }))
    const tls = { files, demandsClientCertificate: demands }
    return yield* startServer("d1").pipe(
      Effect.provide(
        yield* Layer.build(
          Layer.merge(layerChunkEndpointWith({ tls }), layerChunkTransportWith({ tls: files }))
        )
      )
    )
  })

const readFrom = (source: ChunkTarget) =>
  ChunkTransport.use((transport) =>
    transport
      .read({ chunk, source, range: Option.none(), deadline: "5 seconds" })
      .pipe(Stream.runCollect)
  ).pipe(Effect.map((pieces) => Buffer.concat(pieces).length))

const writeTo = (target: ChunkTarget) =>
  ChunkTransport.use((transport) =>
    transport.write({
      chunk,
      length: 100,
      targets: [target],
      data: Stream.make(patterned(100)),
      deadline: "5 seconds"
    })
  )

/** What a client is told that reads and writes; the two must agree. */
const refusalOf = (target: ChunkTarget) =>
  Effect.gen(function* () {
    const read = yield* Effect.flip(readFrom(target))
    const [written] = yield* writeTo(target)
    assert.strictEqual(written?._tag === "Refused" ? written.error.message : "", read.message)
    return `${read.code}: ${read.message.replace(/:\d+/, "")}`
  })

const expectUntouched = (server: ServerFixture) => {
  assert.strictEqual(server.writes(), 0)
  assert.strictEqual(server.copies.size, 1)
}

const untrustedServer =
  "untrusted: https://127.0.0.1: its certificate was not signed by an authority that is trusted here; name that authority"

const refusals: ReadonlyArray<
  readonly [
    name: string,
    options: {
      readonly client: Client | undefined
      readonly demands?: boolean
      readonly scheme?: "http" | "https"
    },
    said: string
  ]
> = [
  ["that trusts another authority", { client: { ca: stranger.cert } }, untrustedServer],
  ["that trusts the system's authorities", { client: undefined }, untrustedServer],
  [
    "that speaks no TLS",
    { client: undefined, scheme: "http" },
    "unreachable: http://127.0.0.1: socket hang up; if this server speaks TLS, its address begins with https://"
  ],
  [
    "without a certificate where one is demanded",
    { client: { ca: authority.cert }, demands: true },
    "untrusted: this chunk server demands a certificate of its clients, and this one has none"
  ],
  [
    "with a certificate of another authority",
    { client: { ca: authority.cert, own: stranger.issue(here) }, demands: true },
    "untrusted: this chunk server refuses the certificate of this client: it was not signed by an authority that is trusted here; name that authority"
  ]
]

describe("trust on the data path", () => {
  for (const [name, { client, demands = false, scheme = "https" }, said] of refusals) {
    it.live(`a client ${name} is told so, and nothing is stored or served`, () =>
      Effect.gen(function* () {
        const folder = yield* certificateFolder
        const server = yield* serve(folder, demands)
        server.copies.set("7/3/11", patterned(10))
        const url = server.target.url.replace("https", scheme)
        const layer = yield* clientLayer(folder, client)
        const told = yield* refusalOf({ ...server.target, url }).pipe(Effect.provide(layer))
        assert.strictEqual(told, said)
        expectUntouched(server)
        // The server goes on for those who are right.
        const right = { ca: authority.cert, own: authority.issue(here) }
        const served = readFrom(server.target).pipe(
          Effect.provide(yield* clientLayer(folder, right))
        )
        assert.strictEqual(yield* served, 10)
      })
    )
  }

  it.live("a client that demands TLS sends nothing to a plain server, and uses one of TLS", () =>
    Effect.gen(function* () {
      const folder = yield* certificateFolder
      const plain = yield* startServer("d1").pipe(
        Effect.provide(
          yield* Layer.build(Layer.merge(layerChunkEndpointWith({}), layerChunkTransport))
        )
      )
      plain.copies.set("7/3/11", patterned(10))
      const secure = yield* serve(folder, false)
      secure.copies.set("7/3/11", patterned(10))
      const easy = yield* clientLayer(folder, { ca: authority.cert })
      assert.strictEqual(yield* readFrom(plain.target).pipe(Effect.provide(easy)), 10)
      const strict = yield* clientLayer(folder, { ca: authority.cert, requiresTls: true })
      assert.strictEqual(
        yield* refusalOf(plain.target).pipe(Effect.provide(strict)),
        "untrusted: http://127.0.0.1: it is reached in plain text, and this process demands TLS on the data path; give that chunk server a certificate"
      )
      expectUntouched(plain)
      assert.strictEqual(yield* readFrom(secure.target).pipe(Effect.provide(strict)), 10)
    })
  )

  const servers: ReadonlyArray<readonly [name: string, request: CertificateRequest, said: RegExp]> =
    [
      [
        "has expired",
        { ...here, ...past },
        /^untrusted: .*: its certificate has expired; renew it$/
      ],
      [
        "is for another host",
        { names: ["elsewhere.example"] },
        /^untrusted: .*: its certificate is for another host: IP: 127\.0\.0\.1 is not in/
      ]
    ]
  for (const [name, request, said] of servers) {
    it.live(`a server whose certificate ${name} is not sent a byte`, () =>
      Effect.gen(function* () {
        const folder = yield* certificateFolder
        let requests = 0
        const url = yield* bareServer(authority.issue(request), () => (requests += 1))
        const target = { deviceId: "d1", hostId: "h", url, capability: goodCapability }
        const layer = yield* clientLayer(folder, { ca: authority.cert })
        assert.match(yield* refusalOf(target).pipe(Effect.provide(layer)), said)
        assert.strictEqual(requests, 0)
      })
    )
  }

  it.live("a server that speaks no TLS at an address of https is told from one that does", () =>
    Effect.gen(function* () {
      const folder = yield* certificateFolder
      const server = yield* startServer("d1").pipe(
        Effect.provide(
          yield* Layer.build(Layer.merge(layerChunkEndpointWith({}), layerChunkTransport))
        )
      )
      const target = { ...server.target, url: server.target.url.replace("http:", "https:") }
      const layer = yield* clientLayer(folder, { ca: authority.cert })
      const told = yield* refusalOf(target).pipe(Effect.provide(layer))
      assert.match(told, /^untrusted: .*: it does not speak TLS/)
    })
  )

  it.live("a chain stores what its first server may store when it does not trust the second", () =>
    Effect.gen(function* () {
      const folder = yield* certificateFolder
      const first = yield* serve(folder, false)
      const url = yield* bareServer(stranger.issue(here), () => undefined)
      const targets = [first.target, { ...first.target, deviceId: "d2", url }]
      const layer = yield* clientLayer(folder, { ca: authority.cert })
      const outcomes = yield* ChunkTransport.use((transport) =>
        transport.write({
          chunk,
          length: 100,
          targets,
          data: Stream.make(patterned(100)),
          deadline: "5 seconds"
        })
      ).pipe(Effect.provide(layer))
      assert.deepStrictEqual(summary(outcomes), ["d1 stored 100", "d2 untrusted"])
    })
  )

  it.live("connections are kept: many exchanges cost a handshake or two", () =>
    Effect.gen(function* () {
      const folder = yield* certificateFolder
      let connections = 0
      const own = authority.issue(here)
      const server = createServer(own, (_request, response) => response.end())
      server.on("secureConnection", () => (connections += 1))
      const url = yield* listening(server)
      const target = { deviceId: "d1", hostId: "h", url, capability: goodCapability }
      const layer = yield* Layer.build(yield* clientLayer(folder, { ca: authority.cert }))
      for (let count = 0; count < 20; count++) {
        yield* Effect.ignore(readFrom(target)).pipe(Effect.provide(layer))
      }
      assert.isAtMost(connections, 2)
    })
  )

  it.live("a connection that never shakes hands hinders nobody", () =>
    Effect.gen(function* () {
      const folder = yield* certificateFolder
      const server = yield* serve(folder, false)
      const { port } = new URL(server.target.url)
      const silent = connect(Number(port), "127.0.0.1")
      silent.on("error", () => undefined)
      yield* Effect.promise(() => once(silent, "connect"))
      const layer = yield* clientLayer(folder, { ca: authority.cert })
      const [outcome] = yield* writeTo(server.target).pipe(Effect.provide(layer))
      assert.strictEqual(outcome?._tag, "Stored")
      silent.destroy()
    })
  )
})

const listening = (server: ReturnType<typeof createServer>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      const address = server.address()
      return `https://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )

/** A server with a certificate that no chunk server would start with. */
const bareServer = (own: TestCertificate, onRequest: () => void) =>
  listening(
    createServer(own, (_request, response) => {
      onRequest()
      response.end()
    })
  )
