/**
 * Hostile input for every wire message, file format, directory and HTTP route.
 *
 *     npm run fuzz -- --seconds 300                        a fresh seed, printed first
 *     npm run fuzz -- --seed S --target segment --from N   one case again
 *     npm run fuzz -- --list                               what is covered
 */
import { randomBytes } from "node:crypto"
import { parseArgs } from "node:util"
import type { CaseReport } from "./case-worker.ts"
import { runInProcess } from "./in-process.ts"
import { targets } from "./targets/in-process-targets.ts"
import { liveCoverage, runLive } from "./live/run-live.ts"

const secondsDefault = 300

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: String(secondsDefault) },
    seed: { type: "string" },
    target: { type: "string" },
    from: { type: "string", default: "0" },
    cases: { type: "string" },
    list: { type: "boolean", default: false }
  }
})

const numberOf = (name: string, text: string): number => {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 0) return value
  console.error(`--${name} is "${text}"; right would be a whole number`)
  process.exit(1)
}

const list = (): void => {
  for (const { name, takes } of targets) console.log(`${name.padEnd(26)} ${takes}`)
  for (const [name, takes] of liveCoverage) console.log(`${name.padEnd(26)} ${takes}`)
}

const seconds = numberOf("seconds", values.seconds)
const seed = values.seed ?? randomBytes(6).toString("hex")
const from = numberOf("from", values.from)
const only = values.target
const isReplay = values.from !== "0" && values.cases === undefined
const cases = numberOf("cases", values.cases ?? (isReplay ? "1" : String(2 ** 31)))

const show = (report: CaseReport): boolean => {
  switch (report._tag) {
    case "Done":
      for (const [target, count] of report.counts) console.log(`${target.padEnd(26)} ${count}`)
      return true
    case "Fault":
      console.error(`\n${report.target} case ${report.at}: ${report.text}`)
      console.error(
        `again: npm run fuzz -- --seed ${seed} --target ${report.target} --from ${report.at}`
      )
      return false
  }
}

const run = async (): Promise<boolean> => {
  console.log(`seed ${seed}, ${seconds} seconds`)
  const isLive = liveCoverage.some(([name]) => name === only)
  const half = only === undefined ? (seconds * 1_000) / 2 : seconds * 1_000
  let sound = true
  if (!isLive) {
    const module = import.meta.resolve("./targets/in-process-targets.ts")
    sound = show(await runInProcess({ module, targets, seed, forMs: half, only, from, cases }))
  }
  if (only === undefined || isLive) {
    sound = show(await runLive({ seed, forMs: half, only, from, cases })) && sound
  }
  console.log(sound ? "no crash, no hang, no memory without bound" : "FAULTS FOUND")
  return sound
}

if (values.list) list()
else process.exitCode = (await run()) ? 0 : 1
