import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { makeAuthority } from "@holdfast/suites/certificates"
import { Effect } from "effect"
import { resolveSettings } from "../configuration/resolve.ts"
import { optionalText, PlainText } from "../configuration/setting.ts"
import { checkDataPath, checkDataTls } from "./data-tls.ts"
import { dataTlsServerSettings, dataTlsSettings } from "./data-tls-settings.ts"

const authority = makeAuthority()
const own = authority.issue({ names: ["h1.example", "10.0.0.1"] })

const inFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-data-tls-"))
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text, { mode: 0o600 })
      return join(folder, name)
    }
    return {
      folder,
      HOLDFAST_DATA_TLS_CA: write("ca.pem", authority.cert),
      HOLDFAST_DATA_TLS_CERT: write("own.pem", own.cert),
      HOLDFAST_DATA_TLS_KEY: write("own.key", own.key)
    }
  }),
  ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const table = {
  ...dataTlsServerSettings,
  url: optionalText(PlainText, { description: "the address", variables: ["HOLDFAST_URL"] })
}

const serverRefusal = (environment: Readonly<Record<string, string>>) =>
  resolveSettings({ table, typed: {}, environment }).pipe(
    Effect.flatMap(({ values }) => checkDataPath(values)),
    Effect.match({ onSuccess: () => "", onFailure: ({ message }) => message })
  )

describe("the settings of the data path", () => {
  it.effect("name files that belong together, and are looked at", () =>
    Effect.gen(function* () {
      const { folder, ...all } = yield* inFolder
      const refusal = (environment: Readonly<Record<string, string>>) =>
        resolveSettings({ table: dataTlsSettings, typed: {}, environment }).pipe(
          Effect.flatMap(({ values }) => checkDataTls(values)),
          Effect.match({ onSuccess: () => "", onFailure: ({ message }) => message })
        )
      assert.strictEqual(yield* refusal({}), "")
      assert.strictEqual(yield* refusal(all), "")
      const { HOLDFAST_DATA_TLS_KEY: key, ...keyless } = all
      assert.match(yield* refusal(keyless), /^--data-tls-cert and --data-tls-key belong together/)
      const missing = { ...all, HOLDFAST_DATA_TLS_CA: join(folder, "none.pem") }
      assert.match(yield* refusal(missing), /^TLS on the data path: .*none\.pem does not exist$/)
      const swapped = { ...all, HOLDFAST_DATA_TLS_CERT: key, HOLDFAST_DATA_TLS_KEY: key }
      assert.match(yield* refusal(swapped), /own\.key holds no certificate/)
    })
  )

  it.effect("of a chunk server agree with the address that it tells others", () =>
    Effect.gen(function* () {
      const { HOLDFAST_DATA_TLS_CA, folder: _, ...all } = yield* inFolder
      const at = (url: string) => serverRefusal({ ...all, HOLDFAST_URL: url })
      assert.strictEqual(yield* at("https://h1.example:4300"), "")
      assert.strictEqual(yield* at("https://10.0.0.1:4300"), "")
      assert.match(
        yield* at("http://h1.example:4300"),
        /^--url http:\/\/h1\.example:4300 must begin with https:\/\/: this server serves TLS$/
      )
      assert.match(
        yield* at("https://h2.example:4300"),
        /own\.pem is for DNS:h1\.example, IP Address:10\.0\.0\.1, not for h2\.example, by which/
      )
      const verify = { HOLDFAST_DATA_TLS_VERIFY: "true" }
      assert.match(yield* serverRefusal(verify), /^--data-tls-verify needs/)
      assert.match(yield* serverRefusal({ ...all, ...verify }), /^--data-tls-verify needs/)
      assert.strictEqual(yield* serverRefusal({ ...all, ...verify, HOLDFAST_DATA_TLS_CA }), "")
      const require = { HOLDFAST_DATA_TLS_REQUIRE: "true" }
      assert.match(yield* serverRefusal(require), /^--data-tls-require needs --data-tls-cert/)
      assert.strictEqual(yield* serverRefusal({ ...all, ...require }), "")
    })
  )
})
