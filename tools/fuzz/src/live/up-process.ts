/** A whole embedded cluster as a process of its own, to be attacked over its real sockets. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A running cluster and where its sockets are. */
export interface LiveCluster {
  readonly cluster: string
  /** The loopback server for other terminals, and the word that opens it. */
  readonly loopback: { readonly port: number; readonly token: string }
  readonly observation: { readonly port: number }
  /** Why it is not sound any more, or undefined: it must live, answer and stay within memory. */
  readonly fault: () => Promise<string | undefined>
  readonly stop: () => Promise<void>
}

const root = join(import.meta.dirname, "..", "..", "..", "..")
const source = ["--conditions=@holdfast/source", "--disable-warning=ExperimentalWarning"]
const startMsMax = 60_000
/** A process that takes longer to say that it lives hangs, in milliseconds. */
const answerMsMax = 10_000
/** Memory of the process, in bytes; a quiet one has a fifth of it. */
const residentMax = 1.5 * 1024 ** 3

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0))
    })
  })

const started = (child: ChildProcess, said: () => string): Promise<void> =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`it did not start: ${said()}`)), startMsMax)
    child.once("exit", () => reject(new Error(`it did not start: ${said()}`)))
    child.stdout?.once("data", () => {
      clearTimeout(late)
      resolve()
    })
  })

const ask = async (port: number, path: string): Promise<string> => {
  const signal = AbortSignal.timeout(answerMsMax)
  return (await fetch(`http://127.0.0.1:${port}${path}`, { signal })).text()
}

/** Starts it in a fresh directory. */
export const startLive = async (): Promise<LiveCluster> => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-fuzz-up-"))
  const port = await freePort()
  const main = join(root, "apps", "holdfast", "src", "main.ts")
  const watched = ["--metrics", `127.0.0.1:${port}`, "--log-level", "error", "--json"]
  const size = ["--hosts", "2", "--peers", "3", "--workers", "1"]
  const child = spawn(
    process.execPath,
    [...source, main, "up", "--data", directory, ...size, ...watched],
    { stdio: ["ignore", "pipe", "pipe"] }
  )
  const end = (): void => void child.kill("SIGKILL")
  process.once("exit", end)
  let said = ""
  child.stderr.on("data", (text: Buffer) => {
    said = (said + text.toString("utf8")).slice(-4_000)
  })
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve))
  let status: number | null | undefined
  void exited.then((ended) => {
    status = ended
  })
  await started(child, () => said)
  const access: { readonly url: string; readonly token: string } = JSON.parse(
    readFileSync(join(directory, "access.json"), "utf8")
  )
  const fault = async (): Promise<string | undefined> => {
    if (status !== undefined) return `the process ended with ${status}: ${said}`
    try {
      await ask(port, "/health")
      const metrics = await ask(port, "/metrics")
      const resident = Number(/^holdfast_process_resident_bytes (\d+)/m.exec(metrics)?.[1])
      return resident > residentMax ? `the process takes ${resident} bytes` : undefined
    } catch (error) {
      return `the process does not answer: ${String(error)}: ${said}`
    }
  }
  return {
    cluster: "holdfast",
    loopback: { port: Number(new URL(access.url).port), token: access.token },
    observation: { port },
    fault,
    stop: async () => {
      process.removeListener("exit", end)
      end()
      await exited
      rmSync(directory, { recursive: true, force: true })
    }
  }
}
