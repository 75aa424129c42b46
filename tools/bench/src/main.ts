/**
 * Runs the benchmarks that stand beside the packages, one process each, one after the other.
 *
 *     npm run bench                        all of them
 *     npm run bench -- --only segment      those whose path contains a word
 *     npm run bench -- --json FILE         what was reached, as a JSON array of rows
 */
import { spawnSync } from "node:child_process"
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { cpus, tmpdir, totalmem } from "node:os"
import { dirname, join } from "node:path"
import { env } from "node:process"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..")
const timeLimitMs = 300_000

const readArguments = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { only: { type: "string", multiple: true }, json: { type: "string" } }
    })
  } catch (error) {
    console.error(
      `${error instanceof Error ? error.message : String(error)}; right would be [--only WORD]... [--json FILE]`
    )
    process.exit(1)
  }
}

const { positionals, values } = readArguments()
const wanted = [...positionals, ...(values.only ?? [])]
const benchmarks = globSync("{packages,apps}/**/src/**/*.bench.ts", { cwd: root })
  .filter((path) => wanted.length === 0 || wanted.some((word) => path.includes(word)))
  .sort()
if (benchmarks.length === 0) {
  console.error(`no benchmark has "${wanted.join('" or "')}" in its path`)
  process.exit(1)
}

const processors = cpus()
const memoryGiB = Math.round(totalmem() / 1024 ** 3)
console.log(
  `${processors.length} cores, ${processors[0]?.model ?? "unknown"}, ${memoryGiB} GiB, Node ${process.version}`
)

const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"))
const rows = join(folder, "rows")
writeFileSync(rows, "")
let failures = 0
for (const path of benchmarks) {
  console.log(`\n${path}`)
  const run = spawnSync(
    process.execPath,
    ["--conditions=@holdfast/source", "--expose-gc", join(root, path)],
    {
      stdio: "inherit",
      cwd: root,
      timeout: timeLimitMs,
      env: { ...env, HOLDFAST_BENCH_ROWS: rows }
    }
  )
  if (run.status !== 0) {
    failures += 1
    console.error(`${path} failed (${run.error?.message ?? `status ${run.status}`})`)
  }
}
if (values.json !== undefined) {
  const lines = readFileSync(rows, "utf8").split("\n").filter(Boolean)
  writeFileSync(values.json, `[\n${lines.join(",\n")}\n]\n`)
}
rmSync(folder, { recursive: true })
process.exitCode = failures === 0 ? 0 : 1
