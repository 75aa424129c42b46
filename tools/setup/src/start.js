// @ts-check
/** `npm start`: the main job on an embedded cluster; with arguments, any `holdfast` command. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { installDependencies, productNode, root } from "./dependencies.js"

installDependencies()

const given = process.argv.slice(2)
const isDemonstration = given.length === 0 || (given[0] ?? "").startsWith("--")
const child = spawn(
  productNode(),
  [join(root, "apps/holdfast/bin/holdfast.js"), ...(isDemonstration ? ["demo"] : []), ...given],
  { stdio: "inherit" }
)
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(signal, () => child.kill(signal))
}
child.on("exit", (status, signal) => {
  process.exitCode = status ?? (signal === "SIGINT" ? 130 : 1)
})
