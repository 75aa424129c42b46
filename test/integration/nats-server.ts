/**
 * A real `nats-server` with JetStream for a test: started on a free port, stopped by its own id.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A running server. */
export interface NatsServer {
  readonly url: string
  /** Ends it with SIGKILL, as a crash would. */
  readonly kill: () => Promise<void>
  /** Starts it again on the same port and store. */
  readonly restart: () => Promise<void>
  /** Ends it and removes its store. */
  readonly stop: () => Promise<void>
}

/** A port that nothing listens on now. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on("error", reject)
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("data", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(false))
  })

/**
 * Starts a server, with further lines of configuration where a test needs some; fails with a
 * sentence where there is no `nats-server`.
 */
export const startNatsServer = async (
  configuration = "",
  environment: Readonly<Record<string, string>> = {}
): Promise<NatsServer> => {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), "holdfast-nats-"))
  const config = join(folder, "nats.conf")
  writeFileSync(
    config,
    `host: 127.0.0.1\nport: ${port}\njetstream { store_dir: "${join(folder, "store")}" }\n${configuration}\n`
  )
  let child: ChildProcess
  let exited: Promise<void>
  const start = async (): Promise<void> => {
    child = spawn("nats-server", ["-c", config], {
      stdio: "ignore",
      env: { ...process.env, ...environment }
    })
    let failed: Error | undefined
    exited = new Promise((resolve) => {
      child.once("exit", () => resolve())
      child.once("error", (error) => {
        failed = error
        resolve()
      })
    })
    const until = performance.now() + 15_000
    while (!(await answers(port))) {
      if (failed !== undefined) {
        throw new Error(`nats-server is needed for this test: ${failed.message}`)
      }
      if (performance.now() > until) throw new Error("nats-server did not answer within 15 s")
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }
  const end = async (signal: "SIGKILL" | "SIGTERM"): Promise<void> => {
    child.kill(signal)
    await exited
  }
  await start()
  return {
    url: `nats://127.0.0.1:${port}`,
    kill: () => end("SIGKILL"),
    restart: start,
    stop: async () => {
      await end("SIGTERM")
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
