/**
 * Simulates for a night: `npm run simulate:long -- [first seed] [runs] [profile]`. Every violation
 * is told, and the run goes on behind it; the status is 1 when there was any.
 */
import { describeFound } from "./report-found.ts"
import { simulate } from "./simulate.ts"

const [seedText = "1", runsText = "10000", profile = "all"] = process.argv.slice(2)
const first = Number(seedText)
const count = Number(runsText)
const lineEveryMillis = 10_000

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const started = performance.now()
let [virtualMillis, events, broken, lastLine] = [0, 0, 0, started]
for (let run = 0; run < count; run += 1) {
  const result = simulate({ seed: first + run, runs: 1, profile })
  virtualMillis += result.virtualMillis
  events += result.events
  if (result.found !== undefined) {
    broken += 1
    for (const line of describeFound(result.found)) say(line)
  }
  if (performance.now() - lastLine < lineEveryMillis) continue
  lastLine = performance.now()
  say(`${run + 1} of ${count} runs, ${broken} broken`)
}
const seconds = (performance.now() - started) / 1_000
const hours = virtualMillis / 3_600_000
say(`${count} runs, ${broken} broken, ${hours.toFixed(2)} virtual hours in ${seconds.toFixed(0)} s`)
say(
  `${Math.round(events / seconds)} events a second, ${(hours / (seconds / 3_600)).toFixed(0)} times real time`
)
process.exitCode = broken === 0 ? 0 : 1
