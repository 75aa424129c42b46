/**
 * A real `nats-server` for tests and benchmarks: on a free port, with JetStream in a directory of
 * its own. It can be killed and started again on the same port over the same store.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, connect } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** What a test may vary. */
export interface NatsServerOptions {
  /** Lines of server configuration, for example an authorization block. */
  readonly configuration?: string
}

/** A running server. */
export interface NatsServer {
  readonly url: string
  readonly port: number
  /** The process that runs now. */
  readonly pid: () => number | undefined
  /** Ends the process at once, as a crash would. */
  readonly kill: () => Promise<void>
  /** Freezes the process: its sockets stay open and nothing answers. */
  readonly freeze: () => void
  /** Lets a frozen process go on. */
  readonly thaw: () => void
  /** Starts it again on the same port over the same store. */
  readonly start: () => Promise<void>
  /** Ends the process and removes its store. */
  readonly stop: () => Promise<void>
}

/** Starts a server and waits until it answers; throws a sentence when there is none to start. */
export const startNatsServer = async (options: NatsServerOptions = {}): Promise<NatsServer> => {
  const binary = findBinary()
  const directory = await mkdtemp(join(tmpdir(), "holdfast-nats-"))
  const port = await freePort()
  const configuration = join(directory, "server.conf")
  await writeFile(
    configuration,
    [
      "host: 127.0.0.1",
      `port: ${port}`,
      `jetstream { store_dir: "${join(directory, "store")}" }`,
      options.configuration ?? ""
    ].join("\n")
  )
  let child: ChildProcess | undefined
  const kill = async (): Promise<void> => {
    const running = child
    child = undefined
    if (running !== undefined) await end(running)
  }
  const start = async (): Promise<void> => {
    if (child === undefined) child = await launch(binary, configuration, port)
  }
  await start()
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    pid: () => child?.pid,
    kill,
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
    start,
    stop: async () => {
      await kill()
      await rm(directory, { recursive: true, force: true })
    }
  }
}

const findBinary = (): string => {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/bin"]
  const binary = folders.map((folder) => join(folder, "nats-server")).find(existsSync)
  if (binary === undefined) {
    throw new Error(
      "these tests need the program nats-server, which is not installed; " +
        "on Debian: apt-get install -y nats-server"
    )
  }
  return binary
}

const launch = async (
  binary: string,
  configuration: string,
  port: number
): Promise<ChildProcess> => {
  const child = spawn(binary, ["-c", configuration], { stdio: ["ignore", "ignore", "pipe"] })
  const endWithThisProcess = (): void => void child.kill("SIGKILL")
  process.once("exit", endWithThisProcess)
  child.once("exit", () => void process.removeListener("exit", endWithThisProcess))
  let output = ""
  child.stderr?.on("data", (chunk: Buffer) => {
    output = (output + chunk.toString("utf8")).slice(-4000)
  })
  for (let attempt = 0; attempt < 400; attempt += 1) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`nats-server ended at once: ${output}`)
    }
    if (output.includes("Server is ready") && (await answers(port))) return child
    await sleep(25)
  }
  await end(child)
  throw new Error(`nats-server was not ready within ten seconds: ${output}`)
}

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  child.kill("SIGKILL")
  await ended
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    const finish = (result: boolean): void => {
      socket.destroy()
      resolve(result)
    }
    socket.once("data", () => finish(true))
    socket.once("error", () => finish(false))
    socket.setTimeout(500, () => finish(false))
  })

/** A port that nothing listens on now. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => {
        if (address === null || typeof address === "string") reject(new Error("no port"))
        else resolve(address.port)
      })
    })
  })
