/**
 * Runs the benchmarks that stand beside the packages, one process each, one after the other.
 *
 *     npm run bench                 all of them
 *     npm run bench -- segment      those whose path contains a word
 */
import { spawnSync } from "node:child_process"
import { globSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..")
const wanted = process.argv.slice(2)
const timeLimitMs = 300_000

const benchmarks = globSync("{packages,apps}/**/src/**/*.bench.ts", { cwd: root })
  .filter((path) => wanted.length === 0 || wanted.some((word) => path.includes(word)))
  .sort()

const processors = cpus()
const memoryGiB = Math.round(totalmem() / 1024 ** 3)
console.log(
  `${processors.length} cores, ${processors[0]?.model ?? "unknown"}, ${memoryGiB} GiB, Node ${process.version}`
)

let failures = 0
for (const path of benchmarks) {
  console.log(`\n${path}`)
  const run = spawnSync(
    process.execPath,
    ["--conditions=@holdfast/source", "--expose-gc", join(root, path)],
    { stdio: "inherit", cwd: root, timeout: timeLimitMs }
  )
  if (run.status !== 0) {
    failures += 1
    console.error(`${path} failed (${run.error?.message ?? `status ${run.status}`})`)
  }
}
process.exitCode = failures === 0 ? 0 : 1
