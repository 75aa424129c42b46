#!/usr/bin/env node
/**
 * Starts the command line on a Node that can run it: the one the packages bring, else this one.
 * In a checkout it runs from the sources, in an installed package from the build.
 */
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const application = join(dirname(fileURLToPath(import.meta.url)), "..")

const findNode = () => {
  for (let folder = application; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", ".bin", "node")
    if (existsSync(candidate)) return candidate
    if (dirname(folder) === folder) return process.execPath
  }
}

const sources = join(application, "src", "main.ts")
const isCheckout = existsSync(join(application, "..", "..", "tsconfig.base.json"))
const entry = isCheckout
  ? ["--conditions=@holdfast/source", sources]
  : [join(application, "dist", "main.js")]
const quiet = ["--disable-warning=ExperimentalWarning"]
const child = spawn(findNode(), [...quiet, ...entry, ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { NODE_COMPILE_CACHE: join(application, "node_modules", ".cache"), ...process.env }
})
child.on("error", (error) => {
  process.stderr.write(`holdfast did not start: ${error.message}\n`)
  process.exitCode = 1
})
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal))
}
child.on("exit", (status, signal) => {
  process.exitCode = status ?? (signal === "SIGINT" ? 130 : 143)
})
