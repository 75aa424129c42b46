/**
 * Packs each core, installs it in an empty folder, with the cores that it stands on and nothing
 * else of the repository, and runs the example of its README there:
 * what a team does that takes one core out of the repository.
 */
import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { exampleOf } from "./readme-example.ts"
import { readText, root, type WorkspacePackage, workspacePackages } from "./repository.ts"

const quiet: ExecFileSyncOptionsWithStringEncoding = {
  stdio: ["ignore", "pipe", "inherit"],
  encoding: "utf8"
}

const cores = workspacePackages().filter(({ layer }) => layer === "core")

/** A core and the cores that it stands on. */
const withCoresBelow = (one: WorkspacePackage): ReadonlyArray<WorkspacePackage> => [
  one,
  ...cores.filter(({ name }) => one.dependencies.includes(name)).flatMap(withCoresBelow)
]

const pack = ({ folder }: WorkspacePackage, place: string): string =>
  execFileSync("npm", ["pack", "--silent", "--pack-destination", place], {
    ...quiet,
    cwd: join(root, folder)
  }).trim()

/** Installs one packed core with those it stands on and runs its example; throws what failed. */
const checkCore = (one: WorkspacePackage): void => {
  const place = mkdtempSync(join(tmpdir(), "holdfast-pack-"))
  try {
    const archives = withCoresBelow(one).map((each) => `./${pack(each, place)}`)
    writeFileSync(join(place, "package.json"), JSON.stringify({ private: true, type: "module" }))
    execFileSync(
      "npm",
      ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", ...archives],
      { ...quiet, cwd: place }
    )
    const example = exampleOf(readText(`${one.folder}/README.md`))
    if (example === undefined) throw new Error(`${one.folder}/README.md has no example`)
    writeFileSync(join(place, "example.ts"), example)
    execFileSync(process.execPath, ["example.ts"], { ...quiet, cwd: place })
    console.log(`${one.name} runs alone`)
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

let failures = 0
for (const one of cores) {
  try {
    checkCore(one)
  } catch (error) {
    failures += 1
    console.error(`${one.name} does not run alone: ${String(error)}`)
  }
}
process.exitCode = failures === 0 ? 0 : 1
