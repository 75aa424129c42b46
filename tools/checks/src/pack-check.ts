/**
 * Packs each core, installs it alone in an empty folder and runs the example of its README there:
 * what a team does that takes one core out of the repository.
 */
import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { exampleOf } from "./readme-example.ts"
import { readText, root, workspacePackages } from "./repository.ts"

const quiet: ExecFileSyncOptionsWithStringEncoding = {
  stdio: ["ignore", "pipe", "inherit"],
  encoding: "utf8"
}

/** Installs one packed core alone and runs its example; throws with what failed. */
const checkCore = (folder: string, name: string): void => {
  const place = mkdtempSync(join(tmpdir(), "holdfast-pack-"))
  try {
    const archive = execFileSync("npm", ["pack", "--silent", "--pack-destination", place], {
      ...quiet,
      cwd: join(root, folder)
    }).trim()
    writeFileSync(join(place, "package.json"), JSON.stringify({ private: true, type: "module" }))
    execFileSync(
      "npm",
      [
        "install",
        "--prefer-offline",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
        `./${archive}`
      ],
      { ...quiet, cwd: place }
    )
    const example = exampleOf(readText(`${folder}/README.md`))
    if (example === undefined) throw new Error(`${folder}/README.md has no example`)
    writeFileSync(join(place, "example.ts"), example)
    execFileSync(process.execPath, ["example.ts"], { ...quiet, cwd: place })
    console.log(`${name} runs alone`)
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

let failures = 0
for (const one of workspacePackages().filter(({ layer }) => layer === "core")) {
  try {
    checkCore(one.folder, one.name)
  } catch (error) {
    failures += 1
    console.error(`${one.name} does not run alone: ${String(error)}`)
  }
}
process.exitCode = failures === 0 ? 0 : 1
