/**
 * Every way to be known to a real NATS server: what is right serves, what is wrong is refused with
 * a sentence, and no secret is ever said.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { nkeys } from "@nats-io/transport-node"
import { afterAll, afterEach, describe, expect, it } from "vitest"
import { makeCertificates } from "./certificates.ts"
import { type NatsServer, startNatsServer } from "./nats-server.ts"
import { makeDecentralisedAccess } from "./nats-tokens.ts"
import { start } from "./process.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-access-"))
const secret = "hush-hush-hush"
let server: NatsServer | undefined
let tries = 0

const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

const keyFile = file("key", `${"ab".repeat(32)}\n`)

interface Access {
  readonly flags?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
}

const serviceFlags = (flags: ReadonlyArray<string>): ReadonlyArray<string> => {
  tries += 1
  const data = join(folder, `data-${tries}`)
  return ["metadata", "--key-file", keyFile, "--data", data, "--log-level", "debug", ...flags]
}

/** A service starts with this access, and shows no secret anywhere. */
const expectServed = async ({ environment = {}, flags = [] }: Access): Promise<void> => {
  const running = start(serviceFlags(flags), environment)
  await running.said("is ready", 30_000)
  const listed = readFileSync(`/proc/${running.process.pid}/cmdline`, "utf8")
  running.kill("SIGTERM")
  expect(await running.exited).toBe(143)
  expectSilence(listed, running.stdout(), running.stderr())
}

/** A service with this access is refused with a sentence that holds the words. */
const expectRefused = async (
  { environment = {}, flags = [] }: Access,
  words: string
): Promise<void> => {
  const running = start(serviceFlags(flags), environment)
  expect(await running.exited).toBe(1)
  expect(running.stderr()).toContain(words)
  expect(running.stderr()).not.toMatch(/\n\s+at /)
  expectSilence(running.stdout(), running.stderr())
}

const expectSilence = (...texts: ReadonlyArray<string>): void => {
  for (const text of texts) {
    expect(text).not.toContain(secret)
    expect(text).not.toMatch(/S[UAO][A-Z2-7]{30,}/)
  }
}

afterEach(async () => {
  await server?.stop()
  server = undefined
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const refusedByServer = "refused this client"

describe("access to a NATS server", () => {
  it("by a token: environment, file, URL", async () => {
    server = await startNatsServer(`authorization { token: "${secret}" }`)
    const nats = ["--nats", server.url]
    await expectServed({ flags: nats, environment: { HOLDFAST_NATS_TOKEN: secret } })
    await expectServed({ flags: [...nats, "--token-file", file("token", `${secret}\n`)] })
    await expectServed({
      environment: { NATS_URL: server.url.replace("nats://", `nats://${secret}@`) }
    })
    await expectRefused({ flags: nats, environment: { NATS_TOKEN: "other" } }, refusedByServer)
    await expectRefused({ flags: nats }, refusedByServer)
  }, 60_000)

  it("by user and password: environment, file, URL, context, configuration", async () => {
    server = await startNatsServer(
      `authorization { users: [{ user: "bob", password: "${secret}" }] }`
    )
    const nats = ["--nats", server.url]
    const user = [...nats, "--user", "bob"]
    await expectServed({ flags: user, environment: { NATS_PASSWORD: secret } })
    await expectServed({ flags: [...user, "--password-file", file("password", `${secret}\n`)] })
    const url = server.url.replace("nats://", `nats://bob:${secret}@`)
    await expectServed({ environment: { HOLDFAST_NATS: url } })
    mkdirSync(join(folder, "nats", "context"), { recursive: true })
    const context = { url: server.url, user: "bob", password: secret }
    file(join("nats", "context", "work.json"), JSON.stringify(context))
    await expectServed({
      flags: ["--context", "work"],
      environment: { XDG_CONFIG_HOME: folder }
    })
    const configuration = file(
      "configuration.json",
      JSON.stringify({ nats: server.url, user: "bob", password: secret })
    )
    await expectServed({ flags: ["--config", configuration] })
    const wrong = { NATS_PASSWORD: `not-${secret}` }
    await expectRefused({ flags: user, environment: wrong }, refusedByServer)
    const dead = "nats://bob:hush-hush-hush@127.0.0.1:9"
    await expectRefused({ environment: { NATS_URL: dead } }, "cannot be reached")
  }, 60_000)

  it("by an nkey", async () => {
    const user = nkeys.createUser()
    server = await startNatsServer(`authorization { users: [{ nkey: ${user.getPublicKey()} }] }`)
    const seedOf = (pair: typeof user) => new TextDecoder().decode(pair.getSeed())
    const nats = ["--nats", server.url]
    await expectServed({ flags: [...nats, "--nkey", file("right.nk", `${seedOf(user)}\n`)] })
    const stranger = file("wrong.nk", seedOf(nkeys.createUser()))
    await expectRefused({ flags: [...nats, "--nkey", stranger] }, refusedByServer)
    const damaged = file("damaged.nk", seedOf(user).slice(0, 40))
    await expectRefused({ flags: [...nats, "--nkey", damaged] }, `${damaged} cannot be used`)
  }, 60_000)

  it("by a credentials file of an operator's account", async () => {
    const access = makeDecentralisedAccess()
    server = await startNatsServer(access.configuration)
    const nats = ["--nats", server.url]
    await expectServed({ flags: [...nats, "--creds", file("right.creds", access.credentials)] })
    const stranger = file("wrong.creds", makeDecentralisedAccess().credentials)
    await expectRefused({ flags: [...nats, "--creds", stranger] }, refusedByServer)
    const damaged = file("damaged.creds", access.credentials.slice(0, 60))
    await expectRefused({ flags: [...nats, "--creds", damaged] }, `${damaged} cannot be used`)
  }, 60_000)

  it("by TLS with an own authority and a client certificate", async () => {
    const certificates = makeCertificates(folder)
    server = await startNatsServer(
      [
        "tls {",
        `  cert_file: "${certificates.server.cert}"`,
        `  key_file: "${certificates.server.key}"`,
        `  ca_file: "${certificates.authority}"`,
        "  verify: true",
        "}"
      ].join("\n")
    )
    const { cert, key } = certificates.client
    const nats = ["--nats", server.url]
    const trusting = [...nats, "--tlsca", certificates.authority]
    await expectServed({ flags: [...trusting, "--tlscert", cert, "--tlskey", key] })
    await expectRefused({ flags: trusting }, "does it demand a client certificate?")
    await expectRefused({ flags: nats }, "cannot be reached")
    await expectRefused({ flags: [...trusting, "--tlscert", cert] }, "belong together")
  }, 60_000)
})

describe("--check", () => {
  it("says where each value came from, hides secrets, and ends with 0 or 1", async () => {
    const configuration = file(
      "check.json",
      JSON.stringify({ nats: `nats://bob:${secret}@a:4222`, "devices-min": 3, token: undefined })
    )
    const check = (...flags: ReadonlyArray<string>) =>
      start(serviceFlags(["--config", configuration, "--check", ...flags]), {
        HOLDFAST_CLUSTER: "orders"
      })
    const right = check("--free-mib", "7")
    expect(await right.exited).toBe(0)
    const shown = right.stdout()
    expect(shown).toMatch(/^cluster +orders +environment HOLDFAST_CLUSTER$/m)
    expect(shown).toMatch(/^free-mib +7 +flag --free-mib$/m)
    expect(shown).toMatch(new RegExp(`^devices-min +3 +file ${configuration}$`, "m"))
    expect(shown).toMatch(/^repair-delay-ms +60000 +default$/m)
    expect(shown).toMatch(/^nats +nats:\/\/\(hidden\)@a:4222 +file/m)
    expect(shown).toMatch(/^creds +- +not set$/m)
    expectSilence(shown, right.stderr())
    const wrong = check("--free-mib", "-1", "--password", "x")
    expect(await wrong.exited).toBe(1)
    expect(wrong.stdout()).toBe("")
    expect(wrong.stderr()).toContain("free-mib (flag --free-mib): a whole number from 0 to")
    expect(wrong.stderr()).toContain("shows in every list of processes")
  }, 30_000)
})
