import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
const nodeModules = fileURLToPath(new URL("../../../../node_modules", import.meta.url))

it("runs the example of the README", () => {
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? ""
  expect(example).toContain("assert")
  const directory = mkdtempSync(join(tmpdir(), "adapter-file-readme-"))
  try {
    symlinkSync(nodeModules, join(directory, "node_modules"))
    writeFileSync(join(directory, "example.ts"), example)
    writeFileSync(join(directory, "package.json"), `{ "type": "module" }`)
    execFileSync(process.execPath, ["--conditions=@holdfast/source", "example.ts"], {
      cwd: directory,
      // What the example leaves in the temporary folder goes with this one.
      env: { ...process.env, TMPDIR: directory },
      stdio: "pipe"
    })
  } finally {
    rmSync(directory, { recursive: true })
  }
})
