import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { resolveSettings } from "../configuration/resolve.ts"
import { showConfiguration } from "../configuration/show-configuration.ts"
import { parseNatsAddress } from "./nats-address.ts"
import { natsOptionsOf } from "./nats-options.ts"
import { natsSettings } from "./nats-settings.ts"

const inFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "holdfast-nats-access-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const writeContext = (folder: string, content: unknown): void => {
  mkdirSync(join(folder, "nats", "context"), { recursive: true })
  writeFileSync(join(folder, "nats", "context", "work.json"), JSON.stringify(content))
}

const resolve = (environment: Readonly<Record<string, string>>) =>
  resolveSettings({ table: natsSettings, typed: {}, environment })

const optionsOf = (environment: Readonly<Record<string, string>>) =>
  Effect.flatMap(resolve(environment), ({ values }) => natsOptionsOf(values, "test"))

const refusal = (environment: Readonly<Record<string, string>>) =>
  Effect.map(Effect.flip(optionsOf(environment)), ({ message }) => message)

describe("the address of NATS", () => {
  it("may carry a user with a password, or a token, which never stay in a server's name", () => {
    const both = Result.getOrThrow(parseNatsAddress("nats://bob:h%40sh@a:4222, b"))
    assert.deepStrictEqual(both.servers, ["nats://a:4222", "nats://b"])
    assert.strictEqual(both.user, "bob")
    assert.strictEqual(both.password && Redacted.value(both.password), "h@sh")
    const token = Result.getOrThrow(parseNatsAddress("tls://hush@[::1]:4222"))
    assert.deepStrictEqual(token.servers, ["tls://[::1]:4222"])
    assert.strictEqual(token.token && Redacted.value(token.token), "hush")
    assert.notInclude(JSON.stringify([both, token]), 'sh"')
  })

  it("is refused without quoting it when it is none", () => {
    for (const text of ["http://hush@a", "nats://hush:x:y@", ",", "nats://"]) {
      const refused = parseNatsAddress(text)
      assert.isTrue(Result.isFailure(refused), text)
      assert.notInclude(String(Result.isFailure(refused) && refused.failure), "hush")
    }
  })
})

describe("a context of the nats command line", () => {
  it.effect("says where and who, below what is said nearer by", () =>
    Effect.gen(function* () {
      const folder = yield* inFolder
      writeContext(folder, {
        description: "work",
        url: "nats://a:4222",
        user: "bob",
        password: "hush",
        inbox_prefix: "_INBOX_bob",
        creds: "",
        tls_first: false
      })
      const environment = { XDG_CONFIG_HOME: folder, NATS_CONTEXT: "work" }
      const options = yield* optionsOf(environment)
      assert.deepStrictEqual(options.servers, ["nats://a:4222"])
      assert.strictEqual(options.user, "bob")
      assert.strictEqual(options.password && Redacted.value(options.password), "hush")
      assert.strictEqual(options.inboxPrefix, "_INBOX_bob")
      const shown = showConfiguration(yield* resolve(environment))
      assert.match(shown, /user +bob +context work/)
      assert.notInclude(shown, "hush")
      const other = yield* optionsOf({ ...environment, NATS_TOKEN: "t", NATS_URL: "b:1" })
      assert.deepStrictEqual(other.servers, ["nats://b:1"])
      assert.isUndefined(other.user)
    })
  )

  it.effect("finds files below the home of its user", () =>
    Effect.gen(function* () {
      const folder = yield* inFolder
      mkdirSync(join(folder, ".config"))
      writeContext(join(folder, ".config"), { url: "a", ca: "~/ca.pem" })
      writeFileSync(join(folder, "ca.pem"), "x")
      const options = yield* optionsOf({ HOME: folder, NATS_CONTEXT: "work" })
      assert.strictEqual(options.tls?.caFile, join(folder, "ca.pem"))
    })
  )

  it.effect("is refused when it is missing, a path, no JSON, or asks for what cannot be done", () =>
    Effect.gen(function* () {
      const folder = yield* inFolder
      const at = (name: string) => ({ XDG_CONFIG_HOME: folder, NATS_CONTEXT: name })
      assert.include(yield* refusal(at("none")), "does not exist")
      assert.include(yield* refusal(at("../work")), "must be a name, not a path")
      writeContext(folder, { url: "a", user_jwt: "hush" })
      const refused = yield* refusal(at("work"))
      assert.include(refused, '"user_jwt", which holdfast cannot follow')
      assert.notInclude(refused, "hush")
    })
  )
})

describe("access to NATS", () => {
  it.effect("takes one way to be known, whole", () =>
    Effect.gen(function* () {
      const NATS_URL = "a"
      assert.include(
        yield* refusal({ NATS_URL, NATS_USER: "bob", NATS_TOKEN: "t" }),
        "NATS takes one of a user and a token"
      )
      assert.include(yield* refusal({ NATS_URL, NATS_CERT: "c" }), "belong together")
      assert.include(yield* refusal({}), "name the NATS servers with --nats")
    })
  )

  it.effect("reads secrets from files that only their owner may read, and keeps them", () =>
    Effect.gen(function* () {
      const file = join(yield* inFolder, "password")
      const environment = { NATS_URL: "a", NATS_USER: "bob", HOLDFAST_NATS_PASSWORD_FILE: file }
      writeFileSync(file, "hush\n", { mode: 0o644 })
      assert.include(yield* refusal(environment), `chmod 600 ${file}`)
      rmSync(file)
      writeFileSync(file, "hush\n", { mode: 0o600 })
      const { password } = yield* optionsOf(environment)
      assert.strictEqual(password && Redacted.value(password), "hush")
      assert.notInclude(JSON.stringify(password), "hush")
      writeFileSync(file, "\n")
      assert.include(yield* refusal(environment), "is empty")
    })
  )

  it.effect("looks at the files that it will need, before it connects", () =>
    Effect.gen(function* () {
      const folder = yield* inFolder
      const seed = join(folder, "seed")
      writeFileSync(seed, "SUnotaseed")
      const missing = join(folder, "none")
      for (const name of ["NATS_CREDS", "NATS_NKEY", "NATS_CA"]) {
        const refused = yield* refusal({ NATS_URL: "a", [name]: missing })
        assert.include(refused, `${missing} cannot be used: there is no such file`)
      }
      const malformed = yield* refusal({ NATS_URL: "a", NATS_NKEY: seed })
      assert.include(malformed, `${seed} cannot be used`)
      assert.notInclude(malformed, "SUnotaseed")
    })
  )
})
