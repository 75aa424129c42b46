// @ts-check
/** `npm test`: installs what is missing, type-checks, then runs every test. */
import { join } from "node:path"
import { installDependencies, productNode, root, run } from "./dependencies.js"
import { installNatsServer } from "./nats-server.js"

installDependencies()
installNatsServer()
process.env["PATH"] = `${join(root, "node_modules", ".bin")}:${process.env["PATH"]}`

const bin = (/** @type {string} */ name) => join(root, "node_modules", ".bin", name)
const steps = [
  () => run(bin("tsc"), ["-b"]),
  () => run(bin("tsc"), ["-p", "tsconfig.tests.json"]),
  () => run(productNode(), [bin("vitest"), "run", ...process.argv.slice(2)])
]
for (const step of steps) {
  const status = step()
  if (status !== 0) process.exit(status)
}
