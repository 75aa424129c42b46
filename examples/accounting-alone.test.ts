/** The accounting core behind a foreign consumer, killed in the middle of its work. */
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { decodeMap, statusOf } from "@holdfast/disposition"
import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { Result } from "effect"
import { expect, it } from "vitest"
import { startNatsServer } from "../test/integration/nats-server.ts"
import { eventually } from "../test/integration/process.ts"

const example = fileURLToPath(new URL("accounting-alone.ts", import.meta.url))

const run = (url: string, file: string) => {
  const child = spawn(process.execPath, [example, url, "ORDERS", file], { stdio: "pipe" })
  let printed = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text))
  let complaints = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text))
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()))
  const done = (): ReadonlyArray<number> =>
    [...printed.matchAll(/done (\d+)\n/g)].map(([, at]) => Number(at))
  return {
    done,
    awaitDone: (count: number) =>
      eventually(
        `${count} records are done: ${complaints}`,
        async () => (done().length >= count ? true : undefined),
        60_000
      ),
    kill: () => {
      child.kill("SIGKILL")
      return exited
    }
  }
}

it("what is stored as done is not done again, and everything is done", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-example-"))
  const file = join(folder, "progress.json")
  const server = await startNatsServer()
  const connection = await connect({ servers: server.url })
  try {
    await (await jetstreamManager(connection)).streams.add({ name: "ORDERS", subjects: ["orders"] })
    const publish = jetstream(connection)
    for (let at = 1; at <= 300; at++) await publish.publish("orders", String(at))
    const first = run(server.url, file)
    await first.awaitDone(100)
    await first.kill()
    expect(existsSync(file)).toBe(true)
    const stored = JSON.parse(readFileSync(file, "utf8"))
    const base = stored.after === undefined ? undefined : BigInt(stored.after)
    const map = Result.getOrThrow(
      decodeMap(Buffer.from(stored.map, "base64"), { base, newest: undefined })
    )
    const isStored = (at: number): boolean => statusOf(map, BigInt(at))._tag === "Finished"
    const all = Array.from({ length: 300 }, (_, at) => at + 1)
    const open = all.filter((at) => !isStored(at))
    expect(open.length).toBeLessThan(300)
    const second = run(server.url, file)
    await second.awaitDone(open.length)
    expect(second.done().toSorted((one, other) => one - other)).toEqual(open)
    expect(all.filter((at) => isStored(at) && !first.done().includes(at))).toEqual([])
    await second.kill()
  } finally {
    await connection.close()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}, 120_000)
