// @ts-check
/** Makes sure that a `nats-server` is on the PATH: the tests of the real thing start their own. */
import { spawnSync } from "node:child_process"
import { fail, say } from "./dependencies.js"

const howTo =
  "the tests need nats-server 2.9 or later on the PATH: install Debian's package " +
  "`nats-server` (as root: apt-get install nats-server) or a release of your own"

const isThere = () => spawnSync("nats-server", ["--version"], { stdio: "ignore" }).status === 0

/** Installs Debian's package where that is possible, otherwise ends with how to do it. */
export const installNatsServer = () => {
  if (isThere()) return
  const isRoot = process.getuid?.() === 0
  const hasApt = spawnSync("apt-get", ["--version"], { stdio: "ignore" }).status === 0
  if (!isRoot || !hasApt) fail(howTo)
  say("Installing nats-server (once)")
  const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  for (const args of [
    ["update", "-qq"],
    ["install", "-y", "-qq", "nats-server"]
  ]) {
    const step = spawnSync("apt-get", args, { stdio: ["ignore", "ignore", 2], env: environment })
    if (step.status !== 0) fail(`apt-get ${args[0]} failed; ${howTo}`)
  }
  if (!isThere()) fail(howTo)
}
