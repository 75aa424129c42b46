/** The machines of the week: processes that are started, lost, replaced and upgraded by name. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type NatsServer, startNatsServer } from "../../../test/integration/nats-server.ts"
import { eventually, holdfast, type Running, start } from "../../../test/integration/process.ts"

/** The processes, and the commands of an operator. */
export interface Site {
  readonly server: NatsServer
  /** Starts a process of this name, or starts it again as it was. */
  readonly start: (name: string, args?: ReadonlyArray<string>) => Promise<void>
  /** Ends it as a power cut would, or as an upgrade does. */
  readonly stop: (name: string, signal: "SIGKILL" | "SIGTERM") => Promise<void>
  readonly names: () => ReadonlyArray<string>
  readonly keyFlags: ReadonlyArray<string>
  readonly path: (...parts: ReadonlyArray<string>) => string
  /** Runs a command; throws with what it said when it ends with another status than 0. */
  readonly run: (...args: ReadonlyArray<string>) => Promise<string>
  /** The same, without a throw: undefined where the command is refused. */
  readonly attempt: (...args: ReadonlyArray<string>) => Promise<string | undefined>
  /** The JSON of a command. */
  readonly json: <A>(...args: ReadonlyArray<string>) => Promise<A>
  readonly stories: () => string
  readonly close: () => Promise<void>
}

const startMsMax = 120_000
const commandMsMax = 180_000

/** A NATS server and an empty folder. */
export const openSite = async (): Promise<Site> => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-week-"))
  const server = await startNatsServer()
  const path = (...parts: ReadonlyArray<string>): string => join(folder, ...parts)
  writeFileSync(path("key"), `${"5d".repeat(32)}\n`, { mode: 0o600 })
  mkdirSync(path("devices"))
  const processes = new Map<string, { args: ReadonlyArray<string>; running: Running }>()
  const common = ["--cluster", "week", "--nats", server.url]
  const startOne: Site["start"] = async (name, args) => {
    const known = args ?? processes.get(name)?.args
    if (known === undefined) throw new Error(`${name} was never started`)
    const running = start([...known, ...common])
    processes.set(name, { args: known, running })
    await running.said("is ready", startMsMax)
  }
  const stop: Site["stop"] = async (name, signal) => {
    const one = processes.get(name)
    if (one === undefined) throw new Error(`${name} does not run`)
    one.running.kill(signal)
    const late = setTimeout(() => one.running.kill("SIGKILL"), 60_000)
    const status = await one.running.exited
    clearTimeout(late)
    const expected = signal === "SIGKILL" ? 137 : 143
    if (status !== expected) throw new Error(`${name} ended with ${status}, not ${expected}`)
  }
  const command = (args: ReadonlyArray<string>) =>
    holdfast([...args, ...common], { limitMs: commandMsMax })
  const run: Site["run"] = async (...args) => {
    const ended = await command(args)
    if (ended.status !== 0) {
      throw new Error(`holdfast ${args.join(" ")}: ${ended.stderr}${ended.stdout.slice(-2_000)}`)
    }
    return ended.stdout
  }
  return {
    server,
    start: startOne,
    stop,
    names: () => [...processes.keys()],
    keyFlags: ["--key-file", path("key")],
    path,
    run,
    attempt: async (...args) => {
      const { status, stdout } = await command(args)
      return status === 0 ? stdout : undefined
    },
    json: async <A>(...args: ReadonlyArray<string>): Promise<A> =>
      JSON.parse(await run(...args, "--json")),
    stories: () =>
      [...processes]
        .map(([name, one]) => `${name}: ${one.running.stderr().slice(-800)}`)
        .join("\n"),
    close: async () => {
      for (const { running } of processes.values()) running.kill("SIGKILL")
      await Promise.all([...processes.values()].map(({ running }) => running.exited))
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** What the metadata service says of its chunks. */
interface StatusView {
  readonly metadata: {
    readonly chunks: {
      readonly atGoal: number
      readonly belowGoal: number
      readonly missing: number
      readonly known: number
    }
  } | null
  readonly peers: ReadonlyArray<{ readonly live: boolean }>
}

/** Waits until every chunk has all its copies, and so many peers live. */
export const atGoal = (site: Site, peers: number): Promise<StatusView> =>
  eventually(
    "every chunk is at its goal and every peer lives",
    async () => {
      const answer = await site.attempt("status", "--json")
      if (answer === undefined) return undefined
      const status: StatusView = JSON.parse(answer)
      const chunks = status.metadata?.chunks
      const live = status.peers.filter((peer) => peer.live).length
      return chunks?.belowGoal === 0 && chunks.missing === 0 && live === peers ? status : undefined
    },
    180_000
  )
