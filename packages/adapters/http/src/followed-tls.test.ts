/** Certificates that are renewed while connections are made. */
import { connect } from "node:tls"
import { once } from "node:events"
import { assert, describe, it } from "@effect/vitest"
import { makeAuthority } from "@holdfast/suites/certificates"
import { Duration, Effect, Layer, Logger, Option } from "effect"
import { followTlsFiles } from "./followed-tls.ts"
import { layerChunkEndpointWith, layerChunkTransport } from "./index.ts"
import { type CertificateFolder, certificateFolder } from "./testing/certificate-files.ts"
import { startServer } from "./testing/chunk-server-fixture.ts"

const authority = makeAuthority()
const here = { names: ["127.0.0.1"] }
const readEvery = Duration.millis(10)

/** The certificate that a server shows now. */
const shownBy = (url: string) =>
  Effect.promise(async () => {
    const { port } = new URL(url)
    const socket = connect({ port: Number(port), host: "127.0.0.1", ca: authority.cert })
    await once(socket, "secureConnect")
    const shown = socket.getPeerX509Certificate()?.toString()
    socket.destroy()
    return shown
  })

const until = <A>(ask: Effect.Effect<A>, holds: (answer: A) => boolean) =>
  Effect.gen(function* () {
    while (!holds(yield* ask)) yield* Effect.sleep(readEvery)
  }).pipe(Effect.timeout("20 seconds"))

const startIn = (folder: CertificateFolder) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => {
      lines.push(String(message))
    })
    const first = authority.issue(here)
    const names = folder.writeAll("server", { own: first })
    const files = yield* followTlsFiles(names, readEvery).pipe(
      Effect.provide(Logger.layer([logger]))
    )
    const layer = Layer.merge(
      layerChunkEndpointWith({ tls: { files, demandsClientCertificate: false } }),
      layerChunkTransport
    )
    const server = yield* startServer("d1").pipe(Effect.provide(yield* Layer.build(layer)))
    return { files, first, lines, url: server.target.url }
  })

describe("certificates that are followed", () => {
  it.live("a renewed one is shown to the next connection", () =>
    Effect.gen(function* () {
      const folder = yield* certificateFolder
      const { first, lines, url } = yield* startIn(folder)
      assert.strictEqual(yield* shownBy(url), first.cert)
      const second = authority.issue(here)
      folder.writeAll("server", { own: second })
      yield* until(shownBy(url), (shown) => shown === second.cert)
      assert.isTrue(lines.some((line) => /was read again: IP Address:127.0.0.1, until/.test(line)))
    })
  )

  it.live("a bad one is complained of once, and the good one stays", () =>
    Effect.gen(function* () {
      const folder = yield* certificateFolder
      const { files, first, lines, url } = yield* startIn(folder)
      folder.write("server.pem", "nothing that is a certificate")
      yield* until(
        Effect.sync(() => lines.length),
        (count) => count > 0
      )
      yield* Effect.sleep("200 millis")
      assert.strictEqual(lines.length, 1)
      assert.match(lines[0] ?? "", /stay as they are: .*server\.pem holds no certificate/)
      assert.strictEqual(yield* shownBy(url), first.cert)
      const { identity } = files.present()
      assert.strictEqual(Option.isSome(identity) && identity.value.cert, first.cert)
    })
  )

  it.live("one that has expired already is no renewal", () =>
    Effect.gen(function* () {
      const folder = yield* certificateFolder
      const { first, lines, url } = yield* startIn(folder)
      const notAfter = new Date(Date.now() - 1_000)
      const notBefore = new Date(Date.now() - 86_400_000)
      folder.writeAll("server", { own: authority.issue({ ...here, notBefore, notAfter }) })
      yield* until(
        Effect.sync(() => lines.join()),
        (said) => /stay as they are: .* expired at/.test(said)
      )
      assert.strictEqual(yield* shownBy(url), first.cert)
    })
  )
})
