/** What a running cluster shows: metrics that are documented, readiness, logs, telemetry. */
import { createServer, type Server } from "node:http"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { connect } from "@nats-io/transport-node"
import { jetstreamManager } from "@nats-io/jetstream"
import { tmpdir } from "node:os"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Certificates, makeCertificates } from "./certificates.ts"
import { freePort, type NatsServer, startNatsServer } from "./nats-server.ts"
import { eventually, holdfast, root } from "./process.ts"
import { type ServiceCluster, startServices } from "./service-cluster.ts"

const ports = new Map<string, number>()
const received = new Map<string, string>()
let server: NatsServer
let collector: Server
let cluster: ServiceCluster
let folder: string
let certificates: Certificates

/** What the collector asks of those who send, as a variable says it percent-encoded. */
const secret = "hush hush,hush"
const headers = `authorization=Bearer%20${encodeURIComponent(secret)},x-tenant=watched`
const refused: Array<string> = []

/** Chunk servers with TLS, so that all that can be shown is shown. */
const dataTls = (): ReadonlyArray<string> => [
  "--data-tls-cert",
  certificates.server.cert,
  "--data-tls-key",
  certificates.server.key,
  "--data-tls-ca",
  certificates.authority
]

const probe = async (id: string, path: string): Promise<{ status: number; text: string }> => {
  const response = await fetch(`http://127.0.0.1:${ports.get(id)}${path}`)
  return { status: response.status, text: await response.text() }
}

const common = (): ReadonlyArray<string> => ["--cluster", "watched", "--nats", server.url]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-watched-"))
  certificates = makeCertificates(folder)
  server = await startNatsServer()
  collector = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text))
    request.on("end", () => {
      const { authorization, "x-tenant": tenant } = request.headers
      if (authorization !== `Bearer ${secret}` || tenant !== "watched") {
        refused.push(request.url ?? "")
        return response.writeHead(401).end()
      }
      received.set(request.url ?? "", body)
      return response.end("{}")
    })
  })
  const collectorPort = await freePort()
  await new Promise<void>((resolve) => collector.listen(collectorPort, "127.0.0.1", resolve))
  for (const id of ["metadata", "h1", "h2", "p1", "p2", "p3", "w1"]) ports.set(id, await freePort())
  cluster = await startServices({
    flags: (service, id) => [
      ...common(),
      "--metrics",
      `127.0.0.1:${ports.get(id)}`,
      "--log-format",
      "json",
      ...(service === "worker"
        ? ["--otlp", `http://127.0.0.1:${collectorPort}`, "--data-tls-ca", certificates.authority]
        : []),
      ...(service === "chunk-server" ? dataTls() : [])
    ],
    environment: (service) => (service === "worker" ? { OTEL_EXPORTER_OTLP_HEADERS: headers } : {})
  })
  const connection = await connect({ servers: server.url })
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: "LOGS", subjects: ["logs.*"] })
  for (let index = 0; index < 500; index += 1) connection.publish("logs.a", `line ${index}`)
  await connection.drain()
  const added = await holdfast(["archive", "add", "LOGS", "--segment-age-ms", "200", ...common()])
  if (added.status !== 0) throw new Error(added.stderr)
}, 240_000)

afterAll(async () => {
  await cluster?.stop()
  collector?.close()
  rmSync(folder, { recursive: true, force: true })
  await server?.stop()
})

const stored = /^holdfast_archive_records_stored_total 500$/m

describe("a process that is watched", () => {
  it("counts what it archives, and says that it lives and is ready", async () => {
    await eventually(
      "all records are stored",
      async () => (stored.test((await probe("w1", "/metrics")).text) ? true : undefined),
      60_000
    ).catch((cause: unknown) => {
      throw new Error(cluster.stories(), { cause })
    })
    for (const id of ports.keys()) {
      expect(await probe(id, "/health"), id).toEqual({ status: 200, text: "alive\n" })
      expect(await probe(id, "/ready"), id).toEqual({ status: 200, text: "ready\n" })
      expect((await probe(id, "/metrics")).text, id).toMatch(/^holdfast_ready 1$/m)
    }
    expect((await probe("w1", "/elsewhere")).status).toBe(404)
  }, 90_000)

  it("exposes what docs/metrics.md names, and nothing else", async () => {
    const exposed = new Set<string>()
    for (const id of ports.keys()) {
      const { text } = await probe(id, "/metrics")
      for (const [, name = ""] of text.matchAll(/^# TYPE (\S+) /gm)) exposed.add(name)
    }
    const page = readFileSync(join(root, "docs", "metrics.md"), "utf8")
    const named = new Set(
      [...page.matchAll(/^\| `(holdfast_[a-z_]+)` \|/gm)].map(([, name = ""]) => name)
    )
    expect(named).toEqual(exposed)
  })

  it("logs one JSON object a line", () => {
    for (const [id, { stderr }] of cluster.processes) {
      const lines = stderr()
        .split("\n")
        .filter((line) => line !== "" && !line.endsWith("is ready"))
      for (const line of lines) {
        expect(JSON.parse(line), id).toMatchObject({ level: expect.stringMatching(/^[A-Z]+$/) })
      }
    }
    expect(cluster.processes.get("metadata")?.stderr()).toContain("the journal names")
  })

  it("sends traces, metrics and logs to a collector", async () => {
    await eventually(
      "the collector has been sent metrics and traces",
      async () => (received.has("/v1/metrics") && received.has("/v1/traces") ? true : undefined),
      60_000
    )
    expect(received.get("/v1/metrics")).toContain("holdfast_archive_records_stored_total")
    expect(received.get("/v1/traces")).toContain("holdfast-worker")
    expect(refused).toEqual([])
    expect([...received.values(), cluster.stories()].join()).not.toContain("hush")
  }, 90_000)

  it("is not ready while what it needs is away, and names it", async () => {
    const worker = () => probe("w1", "/ready")
    cluster.processes.get("metadata")?.kill("SIGKILL")
    await cluster.processes.get("metadata")?.exited
    const broken = await worker()
    expect(broken).toEqual({ status: 503, text: "no metadata service answers\n" })
    expect((await probe("w1", "/metrics")).text).toMatch(/^holdfast_ready 0$/m)
    expect((await probe("p1", "/ready")).status).toBe(200)
    await cluster.restart("metadata")
    await eventually(
      "the worker is ready again",
      async () => ((await worker()).status === 200 ? true : undefined),
      30_000
    )
    const entered = await holdfast(["safe-mode", "enter", ...common()])
    expect(entered.status, entered.stderr).toBe(0)
    const safe = await probe("metadata", "/ready")
    expect(safe.status).toBe(503)
    expect(safe.text).toContain("safe mode is on")
    const left = await holdfast(["safe-mode", "leave", ...common()])
    expect(left.status, left.stderr).toBe(0)
    await server.kill()
    await eventually(
      "the worker says that NATS is away",
      async () => ((await worker()).text.includes("connection to NATS") ? true : undefined),
      30_000
    )
    expect((await probe("w1", "/health")).status).toBe(200)
    await server.restart()
    await eventually(
      "the worker is ready again",
      async () => ((await worker()).status === 200 ? true : undefined),
      60_000
    )
  }, 150_000)

  it("refuses an address that is taken with a sentence", async () => {
    const taken = `127.0.0.1:${ports.get("p1")}`
    const refused = await holdfast(["worker", "--id", "w2", ...common(), "--metrics", taken])
    expect(refused.status).toBe(1)
    expect(refused.stderr).toContain(`--metrics ${taken} cannot be listened on`)
    expect(refused.stderr).not.toMatch(/\n\s+at /)
  })
})
