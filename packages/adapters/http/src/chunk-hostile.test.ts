import { once } from "node:events"
import { connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { ChunkTransport } from "@holdfast/storage"
import { Effect, Layer, Option, Stream } from "effect"
import { layerChunkEndpoint, layerChunkTransport } from "./index.ts"
import { chunk, goodCapability, patterned, startServer } from "./testing/chunk-server-fixture.ts"

const layers = Layer.mergeAll(layerChunkEndpoint, layerChunkTransport)
const path = "/v1/devices/d1/chunks/7/3/11"
const authorization = `Authorization: Bearer ${goodCapability}`

/** Sends raw text and answers everything that came back until the server closed. */
const raw = (url: string, text: string, options: { readonly hangUp?: boolean } = {}) =>
  Effect.promise(async () => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1")
    socket.on("error", () => undefined)
    await once(socket, "connect")
    const pieces: Array<Buffer> = []
    socket.on("data", (piece) => pieces.push(piece))
    socket.write(text)
    if (options.hangUp === true) setTimeout(() => socket.destroy(), 20)
    else socket.end()
    await once(socket, "close")
    return Buffer.concat(pieces).toString()
  })

const request = (line: string, ...headers: ReadonlyArray<string>) =>
  [`${line} HTTP/1.1`, "Host: x", "Connection: close", ...headers, "", ""].join("\r\n")

const badRequests: ReadonlyArray<readonly [name: string, text: string, status: number]> = [
  ["a path that climbs", request("GET /v1/devices/../chunks/1/1/1"), 400],
  ["an encoded path that climbs", request("GET /v1/devices/%2e%2e/chunks/1/1/1"), 400],
  ["another path", request("GET /"), 400],
  ["a file id of zero", request("GET /v1/devices/d1/chunks/0/1/1"), 400],
  ["a file id too large", request("GET /v1/devices/d1/chunks/9999999999999999/1/1"), 400],
  ["a chunk id too large", request("GET /v1/devices/d1/chunks/1/4294967296/1"), 400],
  ["a method that is not served", request(`DELETE ${path}`), 400],
  ["no capability", request(`GET ${path}`), 403],
  ["a capability of another kind", request(`GET ${path}`, "Authorization: Basic eDp5"), 403],
  ["a range in other units", request(`GET ${path}`, authorization, "Range: lines=1-2"), 416],
  ["several ranges", request(`GET ${path}`, authorization, "Range: bytes=0-1,3-4"), 416],
  ["a query that is no range", request(`GET ${path}?start=a&end=b`, authorization), 416],
  ["a range from back to front", request(`GET ${path}?start=9&end=3`, authorization), 416],
  ["no length", request(`PUT ${path}`, authorization), 400],
  ["a length in words", request(`PUT ${path}`, authorization, "Content-Length: ten"), 400],
  ["a length too large", request(`PUT ${path}`, authorization, "Content-Length: 4294967296"), 400],
  [
    "a body of unknown length",
    `${request(`PUT ${path}`, authorization, "Transfer-Encoding: chunked")}2\r\nab\r\n0\r\n\r\n`,
    400
  ],
  [
    "next targets that cannot be decoded",
    request(`PUT ${path}`, authorization, "Content-Length: 0", "Holdfast-Next: bm90aGluZw"),
    400
  ],
  ["headers without end", request(`GET ${path}`, `X-Long: ${"x".repeat(70_000)}`), 431],
  ["no HTTP at all", "\u0016\u0003\u0001 hello\r\n\r\n", 400]
]

describe("hostile requests", () => {
  for (const [name, text, status] of badRequests) {
    it.live(`${name} is answered ${status}`, () =>
      Effect.gen(function* () {
        const server = yield* startServer("d1")
        server.copies.set("7/3/11", patterned(10))
        const answer = yield* raw(server.target.url, text)
        assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `))
        assert.strictEqual(server.copies.size, 1)
        const known = yield* raw(server.target.url, request(`GET ${path}`, authorization))
        assert.match(known, /^HTTP\/1.1 200 /)
      }).pipe(Effect.provide(layers))
    )
  }

  it.live("a body that breaks off stores nothing", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1")
      const head = request(`PUT ${path}`, authorization, "Content-Length: 1000")
      yield* raw(server.target.url, `${head}only this`, { hangUp: true })
      while (server.writes() === 0) yield* Effect.sleep("2 millis")
      yield* Effect.sleep("20 millis")
      assert.strictEqual(server.copies.size, 0)
    }).pipe(Effect.provide(layers))
  )

  it.live("bytes behind the announced length are no part of the chunk", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1")
      const head = [`PUT ${path} HTTP/1.1`, "Host: x", authorization, "Content-Length: 4", "", ""]
      const answer = yield* raw(server.target.url, `${head.join("\r\n")}abcdEXTRA BYTES\r\n\r\n`)
      assert.match(answer, /^HTTP\/1.1 (200|400) /)
      const stored = server.copies.get("7/3/11")
      assert.isTrue(stored === undefined || stored.length === 4)
    }).pipe(Effect.provide(layers))
  )

  it.live("a body that pauses longer than its deadline is given up", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1")
      const head = request(
        `PUT ${path}`,
        authorization,
        "Content-Length: 1000",
        "Holdfast-Deadline-Ms: 50"
      )
      const socket = connect(Number(new URL(server.target.url).port), "127.0.0.1")
      socket.write(`${head}slow`)
      const [answer] = yield* Effect.promise(() => once(socket, "data"))
      assert.match(String(answer), /"code":"timeout"/)
      socket.destroy()
    }).pipe(Effect.provide(layers))
  )

  it.live("a standard range is served with its place in the chunk", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1")
      server.copies.set("7/3/11", patterned(100))
      const answer = yield* raw(
        server.target.url,
        request(`GET ${path}`, authorization, "Range: bytes=10-19")
      )
      assert.match(answer, /^HTTP\/1.1 206 /)
      assert.match(answer, /content-range: bytes 10-19\/100/i)
    }).pipe(Effect.provide(layers))
  )

  const impostors: ReadonlyArray<readonly [name: string, answer: string, code: string]> = [
    ["an answer that is no JSON", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "invalid"],
    ["a page of errors", "HTTP/1.1 502 Bad\r\nContent-Length: 5\r\n\r\n<html", "invalid"],
    ["no HTTP", "SSH-2.0-OpenSSH_9\r\n", "unreachable"],
    ["an answer that breaks off", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "unreachable"]
  ]
  for (const [name, answer, code] of impostors) {
    it.live(`a client that meets ${name} ends with ${code}`, () =>
      Effect.gen(function* () {
        const url = yield* impostor(answer)
        const source = { deviceId: "d1", hostId: "h", url, capability: goodCapability }
        const transport = yield* ChunkTransport
        const [outcome] = yield* transport.write({
          chunk,
          length: 3,
          targets: [source],
          data: Stream.make(patterned(3)),
          deadline: "1 second"
        })
        assert.strictEqual(outcome?._tag === "Refused" ? outcome.error.code : "", code)
        const error = yield* transport
          .read({ chunk, source, range: Option.none(), deadline: "1 second" })
          .pipe(Stream.runDrain, Effect.flip)
        assert.include(["invalid", "unreachable"], error.code)
      }).pipe(Effect.provide(layers))
    )
  }
})

/** A server that gives every connection the same answer and closes it. */
const impostor = (answer: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { createServer } = await import("node:net")
      const server = createServer((socket) => {
        socket.on("error", () => undefined)
        socket.once("data", () => socket.end(answer))
      })
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(
    Effect.map((server) => {
      const address = server.address()
      return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
    })
  )
