/** A small cluster for benchmarks, each service a process of its own, as they are run for real. */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("../main.ts", import.meta.url))

/** What runs a command of this program, by Node. */
export const nodeArguments = ["--conditions=@holdfast/source", program]

/** A service that runs. */
export interface ServiceProcess {
  readonly name: string
  readonly pid: number
}

/** The commands of the services, in the order in which they are started. */
const commandsOf = (folder: string): ReadonlyArray<readonly [string, ReadonlyArray<string>]> => {
  const data = (id: string) => ["--data", join(folder, id)]
  const key = ["--key-file", join(folder, "key")]
  const chunkServer = (id: string): readonly [string, ReadonlyArray<string>] => {
    const device = ["--device", join(folder, `${id}-device`), "--format", "--reserved-mib", "16"]
    return [id, ["chunk-server", ...key, ...data(id), "--id", id, ...device]]
  }
  const metadata = ["metadata", ...key, ...data("m1"), "--safe-mode-extension-ms", "0"]
  return [
    ["metadata", [...metadata, "--free-mib", "16"]],
    chunkServer("h1"),
    chunkServer("h2"),
    ["peer", ["peer", ...data("p1"), "--id", "p1", "--peers", "p1"]],
    ["worker", ["worker", "--id", "w1", "--discovery-interval-ms", "300"]]
  ]
}

/** Waits until a process says that it is ready; dies with what it said when it ends before. */
const untilReady = (running: ChildProcess) =>
  Effect.callback<void>((resume) => {
    let said = ""
    running.stderr?.on("data", (text: Buffer) => {
      said = (said + text.toString()).slice(-4_096)
      if (said.includes("is ready")) resume(Effect.void)
    })
    running.once("exit", () => resume(Effect.die(new Error(`a service ended: ${said}`))))
  })

const startService = (name: string, command: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [...nodeArguments, ...command], {
        stdio: ["ignore", "ignore", "pipe"]
      })
    ),
    (running) =>
      Effect.promise(async () => {
        const exited = new Promise((resolve) => running.once("exit", resolve))
        running.kill("SIGKILL")
        await exited
      })
  ).pipe(
    Effect.tap(untilReady),
    Effect.map(({ pid }): ServiceProcess => {
      if (pid === undefined) throw new Error(`${name} has no process`)
      return { name, pid }
    })
  )

/** Starts one metadata service, two chunk servers, a peer and a worker, that last of all. */
export const startServices = (url: string, folder: string) => {
  writeFileSync(join(folder, "key"), `${"ab".repeat(32)}\n`, { mode: 0o600 })
  return Effect.forEach(commandsOf(folder), ([name, command]) =>
    startService(name, [...command, "--nats", url])
  )
}

/** Resident memory of a process, in MiB. */
export const residentMiB = ({ pid }: ServiceProcess): number => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024
}

const ticksPerSecond = 100

/** Processor time that a process has had, in seconds. */
export const processorSeconds = ({ pid }: ServiceProcess): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / ticksPerSecond
}
