/**
 * The data path end to end: 512 MiB at goal 2, made durable, and read back, between three processes
 * on loopback: a client, and two chunk servers on plain files; then the same over TLS, with
 * certificates on both sides. The baseline in the same run is one plain file, written with one
 * fsync and read back.
 */
import { type ChildProcess, fork } from "node:child_process"
import { createHmac } from "node:crypto"
import { once } from "node:events"
import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { layerChunkDevices } from "@holdfast/adapter-file"
import {
  followTlsFiles,
  layerChunkEndpoint,
  layerChunkEndpointWith,
  layerChunkTransport,
  layerChunkTransportWith
} from "@holdfast/adapter-http"
import { MemoryNetwork } from "@holdfast/adapter-memory"
import { ChunkDevices, type ChunkName, type ChunkTarget, ChunkTransport } from "@holdfast/storage"
import { makeAuthority } from "@holdfast/suites/certificates"
import { figuresOf } from "@holdfast/suites/figures"
import { HostId, ringOfOne, signCapability } from "@holdfast/wire"
import { Effect, Layer, Logger, Option, Stream } from "effect"
import { startChunkServer } from "./index.ts"

const say = figuresOf("data path")
const mebibyte = 1024 * 1024
const chunkBytes = 64 * mebibyte
const chunks = 8
const concurrency = 2
const clusterId = "bench"
/** What MooseFS reaches on the same machine, in MiB/s. */
const bars = { write: 56, read: 204 }
const mac = (text: string) =>
  new Uint8Array(createHmac("sha256", "bench key").update(text).digest())

/** Seconds of processor time that this process has used. */
const cpuSeconds = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** The certificate of every process of the bench, in the folder that the first one made. */
const followed = (folder: string) =>
  followTlsFiles({
    caFile: join(folder, "ca.pem"),
    certFile: join(folder, "own.pem"),
    keyFile: join(folder, "own.key")
  })

const makeCertificates = async (folder: string) => {
  const authority = makeAuthority()
  const own = authority.issue({ names: ["127.0.0.1"] })
  await mkdir(folder)
  await writeFile(join(folder, "ca.pem"), authority.cert)
  await writeFile(join(folder, "own.pem"), own.cert)
  await writeFile(join(folder, "own.key"), own.key, { mode: 0o600 })
}

/** Both sides of the data path, over TLS where there is a folder of certificates. */
const pathWith = (certificates: string | undefined) =>
  certificates === undefined
    ? Layer.merge(layerChunkEndpoint, layerChunkTransport)
    : Layer.unwrap(
        Effect.map(followed(certificates), (files) =>
          Layer.merge(
            layerChunkEndpointWith({ tls: { files, demandsClientCertificate: true } }),
            layerChunkTransportWith({ tls: files })
          )
        )
      )

const serve = (deviceId: string, directory: string, certificates: string | undefined) =>
  Effect.gen(function* () {
    const devices = yield* ChunkDevices
    yield* devices.format({ directory, clusterId, deviceId })
    const server = yield* startChunkServer({
      clusterId,
      hostId: HostId.make(`host-${deviceId}`),
      incarnation: 1,
      ring: ringOfOne(mac),
      listen: { host: "127.0.0.1", port: 0 },
      devices: [{ directory, reservedBytes: 0, capacityBytes: Option.none() }]
    })
    while ((yield* server.status).devices[0]?.state !== "serving") yield* Effect.sleep("10 millis")
    process.send?.({ url: server.url })
    process.on("message", () => process.send?.({ cpu: cpuSeconds() }))
    yield* Effect.callback<void>((resume) => {
      process.once("disconnect", () => resume(Effect.void))
    })
  }).pipe(
    Effect.scoped,
    Effect.provide(
      Layer.mergeAll(
        layerChunkDevices,
        pathWith(certificates),
        Layer.unwrap(
          Effect.map(MemoryNetwork.make(), (network) => MemoryNetwork.layer(network, deviceId))
        ),
        Logger.layer([])
      )
    )
  )

const startServer = async (
  deviceId: string,
  directory: string,
  certificates: ReadonlyArray<string>
) => {
  const args = [deviceId, join(directory, deviceId), ...certificates]
  const child = fork(fileURLToPath(import.meta.url), args, {
    execArgv: process.execArgv,
    env: { ...process.env, HOLDFAST_BENCH_ROWS: undefined }
  })
  const [message] = await once(child, "message")
  return { child, deviceId, url: String(message.url) }
}

type Server = Awaited<ReturnType<typeof startServer>>

const cpuOf = async ({ child }: Server): Promise<number> => {
  child.send("cpu")
  const [message] = await once(child, "message")
  return Number(message.cpu)
}

const target = ({ deviceId, url }: Server, chunk: ChunkName, right: "read" | "write") => {
  const expires = Math.floor(Date.now() / 1000) + 600
  const capability = signCapability(mac, { clusterId, deviceId, ...chunk, right, expires })
  const found: ChunkTarget = { deviceId, hostId: `host-${deviceId}`, url, capability }
  return found
}

const timed = (
  servers: readonly [Server, Server],
  act: Effect.Effect<void, unknown, ChunkTransport>
) =>
  Effect.gen(function* () {
    const cpus = Effect.promise(() =>
      Promise.all([Promise.resolve(cpuSeconds()), ...servers.map(cpuOf)])
    )
    const before = yield* cpus
    const started = performance.now()
    yield* act
    const rate = (chunks * chunkBytes) / mebibyte / ((performance.now() - started) / 1000)
    const used = (yield* cpus).map((cpu, index) => cpu - (before[index] ?? 0))
    return { rate, used }
  })

const plainFile = async (path: string) => {
  const piece = new Uint8Array(mebibyte)
  const total = chunks * chunkBytes
  const started = performance.now()
  const file = await open(path, "w+")
  for (let written = 0; written < total; written += piece.length) await file.write(piece)
  await file.datasync()
  const wrote = performance.now()
  for (let at = 0; at < total; at += piece.length) await file.read(piece, 0, piece.length, at)
  const read = performance.now()
  await file.close()
  const rate = (from: number, to: number) => total / mebibyte / ((to - from) / 1000)
  return { write: rate(started, wrote), read: rate(wrote, read) }
}

const measure = (servers: readonly [Server, Server], certificates: string | undefined) =>
  Effect.gen(function* () {
    const transport = yield* ChunkTransport
    const piece = new Uint8Array(256 * 1024).map((_, index) => (index * 31) & 0xff)
    const names = Array.from({ length: chunks }, (_, index): ChunkName => ({
      fileId: index + 1,
      chunkId: 0,
      version: 1
    }))
    const writeOne = (chunk: ChunkName) => {
      const [first, second] = chunk.fileId % 2 === 0 ? servers : [servers[1], servers[0]]
      return transport
        .write({
          chunk,
          length: chunkBytes,
          targets: [target(first, chunk, "write"), target(second, chunk, "write")],
          data: Stream.fromIterable(
            Array.from({ length: chunkBytes / piece.length }, () => piece)
          ).pipe(Stream.rechunk(1)),
          deadline: "30 seconds"
        })
        .pipe(
          Effect.map((outcomes) => {
            if (outcomes.some(({ _tag }) => _tag === "Refused")) {
              throw new Error(`a write was refused: ${JSON.stringify(outcomes)}`)
            }
          })
        )
    }
    const readOne = (chunk: ChunkName) =>
      transport
        .read({
          chunk,
          source: target(servers[chunk.fileId % 2 === 0 ? 0 : 1], chunk, "read"),
          range: Option.none(),
          deadline: "30 seconds"
        })
        .pipe(Stream.runDrain)
    const each = { concurrency, discard: true } as const
    const write = yield* timed(servers, Effect.forEach(names, writeOne, each))
    const read = yield* timed(servers, Effect.forEach(names, readOne, each))
    return { write, read }
  }).pipe(Effect.provide(pathWith(certificates)))

/** Two servers, what they reach, and their end. */
const measureApart = async (directory: string, certificates?: string) => {
  const children: Array<ChildProcess> = []
  const start = async (deviceId: string) => {
    const own = certificates === undefined ? [] : [certificates]
    const server = await startServer(deviceId, directory, own)
    children.push(server.child)
    return server
  }
  try {
    await mkdir(directory)
    return await Effect.runPromise(measure([await start("d1"), await start("d2")], certificates))
  } finally {
    for (const child of children) child.disconnect()
    await Promise.all(children.map((child) => once(child, "exit")))
    await rm(directory, { recursive: true })
  }
}

type Rates = Awaited<ReturnType<typeof measureApart>>

const sayCpu = (act: string, used: ReadonlyArray<number>) => {
  for (const [index, cpu] of used.entries()) {
    const whose = index === 0 ? "client" : `server ${index}`
    say({ what: `  ${act}, ${whose}`, value: cpu, unit: "s of CPU" })
  }
}

const acts = ["write", "read"] as const
const whatOf = { write: "write 512 MiB, goal 2, fsync", read: "read 512 MiB back, verified" }

const sayPlain = (rates: Rates, base: Awaited<ReturnType<typeof plainFile>>) => {
  for (const act of acts) {
    const { rate, used } = rates[act]
    say({ what: whatOf[act], value: rate, unit: "MiB/s", bar: { atLeast: bars[act] } })
    say({ what: `  ${act}, a plain file`, value: base[act], unit: "MiB/s" })
    say({ what: `  ${act} against the plain file`, value: rate / base[act], unit: "times" })
    sayCpu(act, used)
  }
}

const saySecure = (secure: Rates, plain: Rates) => {
  for (const act of acts) {
    const { rate, used } = secure[act]
    say({ what: `${whatOf[act]}, over TLS`, value: rate, unit: "MiB/s" })
    say({ what: `  ${act} over TLS against without`, value: rate / plain[act].rate, unit: "times" })
    sayCpu(`${act} over TLS`, used)
  }
}

const bench = async () => {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-path-bench-"))
  try {
    const certificates = join(directory, "certificates")
    await makeCertificates(certificates)
    const plain = await measureApart(join(directory, "plain"))
    sayPlain(plain, await plainFile(join(directory, "file")))
    saySecure(await measureApart(join(directory, "secure"), certificates), plain)
  } finally {
    await rm(directory, { recursive: true })
  }
}

const [, , deviceId, deviceDirectory, deviceCertificates] = process.argv
if (deviceId !== undefined && deviceDirectory !== undefined) {
  await Effect.runPromise(serve(deviceId, deviceDirectory, deviceCertificates))
} else {
  await bench()
}
