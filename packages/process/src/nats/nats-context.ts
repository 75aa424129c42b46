/**
 * A context file of the `nats` command line as a source of settings. What this client cannot do as
 * the context says is refused by name: a connection that ignores it would be another one.
 */
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import { Result } from "effect"
import { parseObject } from "../configuration/configuration-file.ts"
import type { Environment, SaidValue } from "../configuration/said-value.ts"
import { readSmallFile } from "../configuration/small-file.ts"

/** The keys of a context that settings stand for; those that are paths may begin with `~`. */
const understood: Readonly<Record<string, { readonly setting: string; readonly isPath?: true }>> = {
  url: { setting: "nats" },
  user: { setting: "user" },
  password: { setting: "password" },
  token: { setting: "token" },
  creds: { setting: "creds", isPath: true },
  nkey: { setting: "nkey", isPath: true },
  cert: { setting: "tlscert", isPath: true },
  key: { setting: "tlskey", isPath: true },
  ca: { setting: "tlsca", isPath: true },
  tls_first: { setting: "tlsfirst" },
  inbox_prefix: { setting: "inboxPrefix" }
}

/** Keys that would make another connection than this client can. */
const refused = [
  "nsc",
  "socks_proxy",
  "user_jwt",
  "user_seed",
  "jetstream_domain",
  "jetstream_api_prefix",
  "windows_cert_store"
] as const

/** Reads a context; the failure says what is wrong with it, without quoting it. */
export const readNatsContext = (
  name: string,
  environment: Environment
): Result.Result<Readonly<Record<string, SaidValue>>, string> => {
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(name) || name.startsWith(".")) {
    return Result.fail(`the NATS context "${name}" must be a name, not a path`)
  }
  const home = environment["HOME"] ?? homedir()
  const base = environment["XDG_CONFIG_HOME"] ?? ""
  const folder = isAbsolute(base) ? base : join(home, ".config")
  const path = join(folder, "nats", "context", `${name}.json`)
  const file = readSmallFile(path)
  if (Result.isFailure(file)) return Result.fail(`the NATS context ${file.failure}`)
  const parsed = parseObject(file.success)
  if (Result.isFailure(parsed)) return Result.fail(`the NATS context ${path} ${parsed.failure}`)
  const values: Record<string, SaidValue> = {}
  for (const [key, value] of Object.entries(parsed.success)) {
    if (value === "" || value === false || value === null) continue
    if (refused.some((one) => one === key)) {
      return Result.fail(`the NATS context ${path} has "${key}", which holdfast cannot follow`)
    }
    const known = understood[key]
    if (known === undefined) continue
    const isHome = known.isPath === true && typeof value === "string" && value.startsWith("~/")
    values[known.setting] = {
      value: isHome ? join(home, value.slice(2)) : value,
      origin: `context ${name}`
    }
  }
  return Result.succeed(values)
}
