/** Attacks a live cluster for a while and looks, after each round, whether it is sound. */
import type { CaseReport } from "../case-worker.ts"
import { randomOf } from "../random.ts"
import { sendHostileRequest, serversOf } from "./hostile-http.ts"
import { makeSamples, operations, sendHostileMessage } from "./hostile-messages.ts"
import { startLive } from "./up-process.ts"

const serviceNames = [...new Set(operations.map(({ service }) => service))].join(", ")

/** What is covered, by the names of the targets. */
export const liveCoverage: ReadonlyArray<readonly [string, string]> = [
  ["wire-messages", `${operations.length} operations of ${serviceNames}; the peers' hello`],
  ["http-routes", "loopback server, chunk server, metrics endpoint, over bare sockets"]
]

const together = 32
/** Cases between two looks at the cluster. */
const roundCases = 128

/** How long, from which seed, and which cases. */
export interface LiveOptions {
  readonly seed: string
  readonly forMs: number
  readonly only: string | undefined
  readonly from: number
  readonly cases: number
}

/** Runs both live targets in turn. */
export const runLive = async (options: LiveOptions): Promise<CaseReport> => {
  const live = await startLive()
  try {
    const samples = makeSamples()
    const servers = await serversOf(live)
    const targets = [
      ["wire-messages", (random) => sendHostileMessage({ live, samples, random })],
      ["http-routes", (random) => sendHostileRequest(servers, random)]
    ] as ReadonlyArray<readonly [string, (random: ReturnType<typeof randomOf>) => Promise<void>]>
    const counts = new Map<string, number>()
    const until = performance.now() + options.forMs
    for (let at = options.from; at < options.from + options.cases; at += roundCases) {
      for (const [target, send] of targets) {
        if (options.only !== undefined && options.only !== target) continue
        if (performance.now() > until) return { _tag: "Done", counts: [...counts] }
        const size = Math.min(roundCases, options.from + options.cases - at)
        const failure = await round({ seed: options.seed, target, at, size, send })
        const fault = (await live.fault()) ?? failure
        if (fault !== undefined) return { _tag: "Fault", target, at, text: fault }
        counts.set(target, (counts.get(target) ?? 0) + size)
      }
    }
    return { _tag: "Done", counts: [...counts] }
  } finally {
    await live.stop()
  }
}

const round = async (options: {
  readonly seed: string
  readonly target: string
  readonly at: number
  readonly size: number
  readonly send: (random: ReturnType<typeof randomOf>) => Promise<void>
}): Promise<string | undefined> => {
  const { at, seed, send, size, target } = options
  for (let offset = 0; offset < size; offset += together) {
    const numbers = Array.from({ length: Math.min(together, size - offset) }, (_, one) => {
      return at + offset + one
    })
    const ended = await Promise.allSettled(
      numbers.map((number) => send(randomOf(`${seed}/${target}/${number}`)))
    )
    const failed = ended.findIndex(({ status }) => status === "rejected")
    const outcome = ended[failed]
    if (outcome?.status === "rejected") {
      return `case ${numbers[failed]}: ${String(outcome.reason)} ${String(outcome.reason?.cause ?? "")}`
    }
  }
  return undefined
}
