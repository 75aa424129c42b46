// @ts-check
/**
 * Installs the npm packages that the lock names, when they are not there yet. Runs on the system's
 * own Node (20 or later), before the product's Node exists.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The root of the checkout. */
export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..")

const lockFile = join(root, "package-lock.json")
/** A copy of the lock that the installed packages came from. */
const installedMark = join(root, "node_modules", ".installed-lock.json")

const isInstalled = () =>
  existsSync(installedMark) &&
  readFileSync(installedMark, "utf8") === readFileSync(lockFile, "utf8")

/** Runs `npm ci` unless the installed packages are those of the lock. */
export const installDependencies = () => {
  if (isInstalled()) return
  say("Installing the npm packages (once)")
  const install = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", 2, 2]
  })
  if (install.error !== undefined || install.status !== 0) {
    const reason = install.error === undefined ? `status ${install.status}` : install.error.message
    fail(`npm ci failed (${reason}); run it by hand in ${root} to see why`)
  }
  writeFileSync(installedMark, readFileSync(lockFile, "utf8"))
}

/** The Node that runs the product: the lock's own, else a system Node that is new enough. */
export const productNode = () => {
  const brought = join(root, "node_modules", ".bin", "node")
  if (existsSync(brought)) return brought
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  if (major > 22 || (major === 22 && minor >= 19)) return process.execPath
  return fail(
    `Node ${process.versions.node} is too old and no packaged Node fits this system; ` +
      "install Node 24 and run the command again"
  )
}

/** Says what goes on, on standard error: standard output belongs to the command. */
export const say = (/** @type {string} */ sentence) => {
  process.stderr.write(`${sentence}\n`)
}

/**
 * Ends with a sentence and a status.
 * @returns {never}
 */
export const fail = (/** @type {string} */ sentence) => {
  say(sentence)
  process.exit(1)
}

/** Runs a program to its end with this terminal, passing signals on; answers its exit status. */
export const run = (/** @type {string} */ program, /** @type {ReadonlyArray<string>} */ args) => {
  const child = spawnSync(program, args, { cwd: root, stdio: "inherit" })
  if (child.error !== undefined) return fail(`${program} did not start: ${child.error.message}`)
  return child.status ?? 1
}
