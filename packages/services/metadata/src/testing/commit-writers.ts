/**
 * Writers that commit chunks through NATS, as plain as a client can be: a durable commit is one
 * `alloc` of two devices and one `publish` with the receipts of both. What is answered is told.
 */
import { connect, headers, type NatsConnection } from "@nats-io/transport-node"
import type { ChunkDescription } from "@holdfast/storage"
import { type Mac, signReceipt } from "@holdfast/wire"
import { Schema } from "effect"
import { clusterId } from "./world.ts"

/** The devices that hold every copy. */
export const benchDevices = ["a", "b"] as const

/** Commits one chunk: what is stored is told before the service hears of it. */
export interface CommitOptions {
  readonly connection: NatsConnection
  readonly fileId: number
  readonly mac: Mac
  readonly onStored?: (deviceId: string, chunk: ChunkDescription) => void
}

const Refused = Schema.Struct({ error: Schema.Struct({ code: Schema.String }) })
const isRefused = Schema.is(Refused)

const Created = Schema.Struct({ ok: Schema.Struct({ fileId: Schema.Number }) })
const isCreated = Schema.is(Created)
const Granted = Schema.Struct({
  ok: Schema.Struct({
    lease: Schema.String,
    chunk: Schema.Struct({
      fileId: Schema.Number,
      chunkId: Schema.Number,
      version: Schema.Number
    }),
    targets: Schema.Array(Schema.Struct({ deviceId: Schema.String }))
  })
})
const isGranted = Schema.is(Granted)

let requests = 0
const thisProcess = `${process.pid}-${Date.now()}`

const ask = async (
  connection: NatsConnection,
  operation: string,
  request: unknown
): Promise<unknown> => {
  const head = headers()
  head.set("Holdfast-Request-Id", `${thisProcess}-${++requests}`)
  head.set("Holdfast-Deadline-Ms", "5000")
  const reply = await connection.request(
    `holdfast.${clusterId}.metadata.${operation}`,
    JSON.stringify(request),
    { headers: head, timeout: 5_000 }
  )
  const said: unknown = reply.json()
  if (isRefused(said)) throw new Error(`${operation} was refused: ${said.error.code}`)
  return said
}

const otherAnswer = (operation: string) => new Error(`${operation} answered something else`)

/** Makes a file to write to. */
export const makeFile = async (connection: NatsConnection): Promise<number> => {
  const said = await ask(connection, "create-file", {})
  if (!isCreated(said)) throw otherAnswer("create-file")
  return said.ok.fileId
}

/** Commits one chunk; answers when the service has said that it is durable. */
export const commitOne = async (options: CommitOptions): Promise<ChunkDescription> => {
  const { connection, fileId, mac, onStored } = options
  const wanted = { fileId, size: 100, want: 2, min: 2, exclude: [] }
  const said = await ask(connection, "alloc", wanted)
  if (!isGranted(said)) throw otherAnswer("alloc")
  const { chunk: name, lease, targets } = said.ok
  const chunk = { ...name, length: 100, checksum: name.version }
  const receipts = targets.map(({ deviceId }) => {
    onStored?.(deviceId, chunk)
    const proof = signReceipt(mac, { clusterId, deviceId, epoch: 1, ...chunk })
    return { deviceId, epoch: 1, chunk, proof }
  })
  await ask(connection, "publish", { lease, chunk, goal: 2, min: 2, receipts })
  return chunk
}

/** Connects to a server. */
export const connectTo = (url: string): Promise<NatsConnection> => connect({ servers: url })

/** Runs writers until each has been told to stop; answers how many commits and their waits. */
export const runWriters = async (options: {
  readonly writers: number
  readonly step: () => Promise<unknown>
  readonly milliseconds: number
}): Promise<{ readonly rate: number; readonly count: number; readonly waits: Float64Array }> => {
  const start = performance.now()
  const waits: Array<number> = []
  const write = async (): Promise<void> => {
    for (;;) {
      const began = performance.now()
      if (began - start > options.milliseconds) return
      await options.step()
      waits.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: options.writers }, write))
  const rate = waits.length / ((performance.now() - start) / 1_000)
  return { rate, count: waits.length, waits: Float64Array.from(waits).sort() }
}
