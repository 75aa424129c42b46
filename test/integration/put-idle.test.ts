/** A put of a plain file that is killed and never run again, in a cluster of processes. */
import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type NatsServer, startNatsServer } from "./nats-server.ts"
import { eventually, holdfast, start } from "./process.ts"
import { type ServiceCluster, startServices } from "./service-cluster.ts"

const limitMs = 120_000
const mebibyte = 1024 * 1024
const folder = mkdtempSync(join(tmpdir(), "holdfast-put-idle-"))
let server: NatsServer
let cluster: ServiceCluster

const common = (): ReadonlyArray<string> => ["--cluster", "idle", "--nats", server.url]

const json = async (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = await holdfast([...args, ...common(), "--json"], { limitMs })
  expect(status, stderr).toBe(0)
  return JSON.parse(stdout)
}

const copiesOnDisk = (): number =>
  readdirSync(join(cluster.folder, "devices"), { recursive: true, withFileTypes: true }).filter(
    (entry) => {
      if (!entry.isFile()) return false
      const found = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })
      return found !== undefined && found.size >= 32 * mebibyte
    }
  ).length

beforeAll(async () => {
  server = await startNatsServer()
  cluster = await startServices({
    flags: (service) => [...common(), ...(service === "worker" ? ["--put-idle-ms", "5000"] : [])]
  })
}, 300_000)

afterAll(async () => {
  await cluster.stop()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

it("archive-P4: is given up and freed by a worker; the file of its name stays", async () => {
  const small = join(folder, "small.bin")
  const big = join(folder, "big.bin")
  writeFileSync(small, randomBytes(1_000))
  writeFileSync(big, randomBytes(8 * 32 * mebibyte))
  await json("put", small, "--name", "a")
  const put = start(["put", big, "--name", "a", ...common()])
  await eventually("some are stored", async () => (copiesOnDisk() >= 6 ? true : undefined), limitMs)
  put.kill("SIGKILL")
  expect(await put.exited).toBe(128 + 9)
  await eventually(
    "nothing is left of it in the record",
    async () => {
      const left = await json("ls", "--unfinished")
      const { known } = (await json("status")).metadata.chunks
      return left.length === 0 && known === 1 ? true : undefined
    },
    limitMs
  )
  const out = join(folder, "back.bin")
  await json("get", "a", "--out", out)
  expect(Buffer.compare(readFileSync(out), readFileSync(small))).toBe(0)
}, 300_000)
