/**
 * TLS on the data path between real processes, with certificates demanded of both sides: records
 * are archived, read and repaired over it, strangers are told why they are refused, and
 * certificates are renewed while everything runs.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect as connectTls } from "node:tls"
import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Certificates, makeCertificates } from "./certificates.ts"
import { type NatsServer, startNatsServer } from "./nats-server.ts"
import { eventually, holdfast } from "./process.ts"
import { type ServiceCluster, startServices } from "./service-cluster.ts"

const records = 300
let folder: string
let certificates: Certificates
let strangers: Certificates
let server: NatsServer
let cluster: ServiceCluster
/** Whom the worker trusts when it is started next. */
let workerTrusts: () => Certificates = () => strangers

const common = (): ReadonlyArray<string> => ["--cluster", "test", "--nats", server.url]
const trusting = ({ authority }: Certificates) => ["--data-tls-ca", authority]
const shownBy = (of: Certificates) => [
  "--data-tls-cert",
  of.client.cert,
  "--data-tls-key",
  of.client.key
]
/** Everyone here demands TLS; all that is read, written and repaired is over it. */
const demanding = "--data-tls-require"
const known = () => [...trusting(certificates), ...shownBy(certificates), demanding]
const workerFlags = () => [...trusting(workerTrusts()), ...shownBy(certificates), demanding]

const chunkServer = () => [
  ...trusting(certificates),
  "--data-tls-cert",
  certificates.server.cert,
  "--data-tls-key",
  certificates.server.key,
  "--data-tls-verify",
  demanding
]

const read = (...flags: ReadonlyArray<string>) =>
  holdfast(["read", "ORDERS", "--raw", ...flags, ...common()], { limitMs: 100_000 })

const linesOf = (text: string) => text.split("\n").filter((line) => line !== "")

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-data-tls-"))
  certificates = makeCertificates(folder)
  strangers = makeCertificates(folder, "stranger-")
  server = await startNatsServer()
  cluster = await startServices({
    hosts: 3,
    peers: ["p1"],
    flags: (service) => [
      ...common(),
      ...(service === "chunk-server" ? chunkServer() : []),
      ...(service === "worker" ? workerFlags() : [])
    ]
  })
  const connection = await connect({ servers: server.url })
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: "ORDERS", subjects: ["orders.>"] })
  const stream = jetstream(connection)
  for (let index = 0; index < records; index += 1) {
    await stream.publish("orders.eu", JSON.stringify({ index }))
  }
  await connection.close()
  const settings = ["--goal", "2", "--segment-age-ms", "200"]
  await eventually(
    "the archive is added",
    async () => {
      const added = await holdfast(["archive", "add", "ORDERS", ...settings, ...common()])
      return added.status === 0 ? true : undefined
    },
    60_000
  )
}, 240_000)

afterAll(async () => {
  await cluster?.stop()
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

interface DeviceRow {
  readonly url: string
  readonly deviceId: string
  readonly copies: number
}

const devices = async (): Promise<ReadonlyArray<DeviceRow>> => {
  const { stdout } = await holdfast(["devices", "--json", ...common()])
  return JSON.parse(stdout)
}

/** The certificate that a server shows to a client that it knows. */
const shown = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(url)
    const socket = connectTls({ port: Number(port), host: "127.0.0.1", rejectUnauthorized: false })
    socket.once("error", reject)
    socket.once("secureConnect", () => {
      resolve(socket.getPeerX509Certificate()?.toString() ?? "")
      socket.destroy()
    })
  })

describe("TLS on the data path", () => {
  it("a worker that does not trust the chunk servers says so, and archives nothing", async () => {
    const worker = cluster.processes.get("w1")
    await worker?.said("not signed by an authority that is trusted here", 60_000)
    const { stdout } = await read(...known())
    expect(stdout).toBe("")
    worker?.kill("SIGKILL")
    await worker?.exited
    workerTrusts = () => certificates
    await cluster.restart("w1")
  }, 120_000)

  it("archives, reads back and verifies; the servers' addresses are of https", async () => {
    const lines = await eventually(
      "every record is read",
      async () => {
        const { stdout } = await read(...known())
        return linesOf(stdout).length === records ? linesOf(stdout) : undefined
      },
      90_000
    ).catch((cause: unknown) => {
      throw new Error(cluster.stories(), { cause })
    })
    expect(lines).toEqual(Array.from({ length: records }, (_, index) => `{"index":${index}}`))
    const verified = await holdfast(["verify", "ORDERS", ...known(), ...common()])
    expect(verified.status, verified.stderr).toBe(0)
    for (const { url } of await devices()) expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  }, 150_000)

  it.each([
    ["no authority", () => [], /not signed by an authority that is trusted here/],
    [
      "another authority",
      () => [...trusting(strangers), ...shownBy(certificates)],
      /not signed by an authority that is trusted here/
    ],
    [
      "no certificate of its own",
      () => trusting(certificates),
      /demands a certificate of its clients, and this one has none/
    ],
    [
      "another authority's certificate",
      () => [...trusting(certificates), ...shownBy(strangers)],
      /refuses the certificate of this client/
    ]
  ])(
    "a reader with %s is refused with a sentence, and reads nothing",
    async (_, flags, said) => {
      const refused = await read(...flags())
      expect(refused.stdout).toBe("")
      expect(refused.status).toBe(1)
      expect(refused.stderr).toMatch(said)
      expect(refused.stderr).not.toMatch(/\n\s+at /)
    },
    120_000
  )

  it("repairs from server to server: what a lost one held is copied to the third", async () => {
    const before = await devices()
    const lost = before.find(({ copies }) => copies > 0)
    if (lost === undefined) throw new Error("no device holds a copy")
    const copiesOf = (all: ReadonlyArray<DeviceRow>) =>
      all.reduce((sum, { copies }) => sum + copies, 0)
    expect(copiesOf(before)).toBeGreaterThan(0)
    const host = lost.deviceId.replace("d", "h")
    cluster.processes.get(host)?.kill("SIGKILL")
    await cluster.processes.get(host)?.exited
    await eventually(
      "the copies are made again",
      async () => {
        const others = (await devices()).filter(({ deviceId }) => deviceId !== lost.deviceId)
        return copiesOf(others) === copiesOf(before) ? true : undefined
      },
      90_000
    ).catch((cause: unknown) => {
      throw new Error(cluster.stories(), { cause })
    })
    const after = await read(...known())
    expect(linesOf(after.stdout)).toHaveLength(records)
    await cluster.restart(host)
  }, 150_000)

  it("takes up renewed certificates, and keeps the old ones when the new are wrong", async () => {
    const { stderr } = cluster.processes.get("h1") ?? { stderr: () => "" }
    const urls = (await devices()).map(({ url }) => url)
    const renewed = certificates.renew()
    for (const url of urls) {
      await eventually(
        "the renewed certificate is shown",
        async () => ((await shown(url)) === renewed.cert ? true : undefined),
        30_000
      )
    }
    writeFileSync(certificates.server.key, "not a key", { mode: 0o600 })
    await eventually(
      "the wrong key is complained of",
      async () =>
        /certificates of the data path stay as they are: .*server\.key holds no private key/.test(
          stderr()
        )
          ? true
          : undefined,
      30_000
    )
    for (const url of urls) expect(await shown(url)).toBe(renewed.cert)
    const after = await read(...known())
    expect(linesOf(after.stdout)).toHaveLength(records)
  }, 150_000)
})
