/** A small cluster on NATS for a test: every service a process of its own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Running, start } from "./process.ts"

/** The kinds of service, as their commands are called. */
export type ServiceName = "metadata" | "chunk-server" | "peer" | "worker"

/** What a test may say of its cluster. */
export interface ServiceClusterOptions {
  /** Flags of one process, such as how it reaches NATS. */
  readonly flags: (service: ServiceName, id: string) => ReadonlyArray<string>
  /** Variables of one process. */
  readonly environment?: (service: ServiceName) => Readonly<Record<string, string>>
  readonly hosts?: number
  readonly peers?: ReadonlyArray<string>
}

/** A running cluster. */
export interface ServiceCluster {
  readonly folder: string
  readonly processes: ReadonlyMap<string, Running>
  /** Starts a process that was stopped, as it was. */
  readonly restart: (id: string) => Promise<void>
  /** What every process has said so far. */
  readonly stories: () => string
  readonly stop: () => Promise<void>
}

const quickMap = ["--safe-mode-extension-ms", "0", "--repair-delay-ms", "0", "--free-mib", "16"]
const quickDeaths = ["--stale-after-ms", "4000", "--dead-after-ms", "8000"]
const quickWorker = ["--checkpoint-interval-ms", "200", "--discovery-interval-ms", "300"]

/** Starts metadata, hosts, peers and one worker; waits until each says that it is ready. */
export const startServices = async (options: ServiceClusterOptions): Promise<ServiceCluster> => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-services-"))
  const keyFile = join(folder, "key")
  writeFileSync(keyFile, `${"ab".repeat(32)}\n`, { mode: 0o600 })
  mkdirSync(join(folder, "devices"))
  const processes = new Map<string, Running>()
  const peers = options.peers ?? ["p1", "p2", "p3"]
  const key = ["--key-file", keyFile]
  const commands = new Map<string, readonly [ServiceName, ReadonlyArray<string>]>()
  const launch = async (id: string): Promise<void> => {
    const [service, args] = commands.get(id) ?? (["metadata", []] as const)
    const environment = options.environment?.(service) ?? {}
    const running = start([service, ...args, ...options.flags(service, id)], environment)
    processes.set(id, running)
    await running.said("is ready", 120_000)
  }
  const data = (id: string): ReadonlyArray<string> => ["--data", join(folder, id)]
  commands.set("metadata", ["metadata", [...key, ...data("metadata"), ...quickMap, ...quickDeaths]])
  for (let host = 1; host <= (options.hosts ?? 2); host += 1) {
    const id = `h${host}`
    const device = ["--device", join(folder, "devices", `d${host}`), "--format"]
    const room = ["--reserved-mib", "16"]
    commands.set(id, ["chunk-server", [...key, ...data(id), "--id", id, ...device, ...room]])
  }
  const membership = peers.flatMap((peer) => ["--peers", peer])
  for (const id of peers) {
    commands.set(id, ["peer", [...data(id), "--id", id, ...membership]])
  }
  commands.set("w1", ["worker", ["--id", "w1", ...quickWorker]])
  const stop = async (): Promise<void> => {
    for (const running of processes.values()) running.kill("SIGKILL")
    await Promise.all([...processes.values()].map(({ exited }) => exited))
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    for (const id of commands.keys()) await launch(id)
  } catch (error) {
    await stop()
    throw error
  }
  const stories = (): string =>
    [...processes].map(([id, one]) => `${id}:\n${one.stderr().slice(-1_500)}`).join("\n")
  return { folder, processes, restart: launch, stories, stop }
}
