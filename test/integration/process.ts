/** Processes of the command line for tests: started, watched, killed by their own id. */
import { type ChildProcess, spawn } from "node:child_process"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The root of the checkout. */
export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..")

/** The build: what an installed package runs, and quicker to start than the sources. */
const main = join(root, "apps", "holdfast", "dist", "main.js")
/** More than this of either output fails the test that made it. */
const outputMax = 100_000_000

/** What a finished command left behind. */
export interface Finished {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs one `holdfast` command to its end; kills it at the limit. */
export const holdfast = (
  args: ReadonlyArray<string>,
  options: {
    readonly input?: string
    readonly limitMs?: number
    readonly environment?: Readonly<Record<string, string>>
  } = {}
): Promise<Finished> => {
  const child = start(args, options.environment)
  child.process.stdin?.end(options.input ?? "")
  const timer = setTimeout(() => child.kill("SIGKILL"), options.limitMs ?? 60_000)
  return child.exited.then((status) => {
    clearTimeout(timer)
    return { status, stdout: child.stdout(), stderr: child.stderr() }
  })
}

/** A running process. */
export interface Running {
  readonly process: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  /** The exit status, or 128 and the signal's number. */
  readonly exited: Promise<number>
  readonly kill: (signal: "SIGKILL" | "SIGTERM" | "SIGINT" | "SIGUSR2") => void
  /** Waits until standard output or standard error holds a text. */
  readonly said: (text: string, limitMs?: number) => Promise<void>
}

const signalNumbers: Readonly<Record<string, number>> = { SIGKILL: 9, SIGTERM: 15, SIGINT: 2 }

/** Starts one `holdfast` command. */
export const start = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>> = {}
): Running => {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: "pipe",
    cwd: root,
    env: {
      NODE_COMPILE_CACHE: join(tmpdir(), "holdfast-compile-cache"),
      ...process.env,
      ...environment
    }
  })
  let stdout = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text
    if (stdout.length > outputMax) child.kill("SIGKILL")
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
    if (stderr.length > outputMax) child.kill("SIGKILL")
  })
  const exited = new Promise<number>((resolve) => {
    child.on("close", (status, signal) =>
      resolve(status ?? 128 + (signalNumbers[signal ?? ""] ?? 0))
    )
  })
  const describe = (): string => `holdfast ${args.join(" ")}\n${stdout}\n${stderr}`
  const said = async (text: string, limitMs = 30_000): Promise<void> => {
    let ended = false
    void exited.then(() => {
      ended = true
    })
    const until = performance.now() + limitMs
    while (!stdout.includes(text) && !stderr.includes(text)) {
      if (ended) throw new Error(`ended before it said "${text}": ${describe()}`)
      if (performance.now() > until) throw new Error(`never said "${text}": ${describe()}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  return {
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    exited,
    kill: (signal) => {
      child.kill(signal)
    },
    said
  }
}

/** Waits until a condition holds; asks again at short intervals. */
export const eventually = async <A>(
  what: string,
  ask: () => Promise<A | undefined>,
  limitMs: number
): Promise<A> => {
  const until = performance.now() + limitMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() > until) throw new Error(`${what}: not within ${limitMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}
