import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { resolveSettings } from "../configuration/resolve.ts"
import { showConfiguration } from "../configuration/show-configuration.ts"
import { observabilitySettings } from "./observability-settings.ts"
import { otlpHeadersOf, parseOtlpHeaders } from "./otlp-headers.ts"

const right: ReadonlyArray<readonly [text: string, headers: Readonly<Record<string, string>>]> = [
  ["authorization=Bearer%20hush", { authorization: "Bearer hush" }],
  ["Authorization=Bearer hush", { authorization: "Bearer hush" }],
  ["authorization=Basic aGk6aHVzaA==", { authorization: "Basic aGk6aHVzaA==" }],
  [" x-tenant = a , x-key=%2C%3D,", { "x-tenant": "a", "x-key": ",=" }],
  ["x-empty=", { "x-empty": "" }]
]

const wrong: ReadonlyArray<readonly [text: string, entry: number]> = [
  ["hush", 1],
  ["a=b,hush", 2],
  ["=hush", 1],
  ["a b=hush", 1],
  ["a=hush%", 1],
  ["a=hush%0d%0ax: y", 1],
  ["a=b,,c=d", 2]
]

const resolve = (environment: Readonly<Record<string, string>>) =>
  resolveSettings({ table: observabilitySettings, typed: {}, environment })

describe("the headers for a collector", () => {
  it("are read as OpenTelemetry writes them", () => {
    for (const [text, headers] of right) {
      assert.deepStrictEqual(Result.getOrThrow(parseOtlpHeaders(text)), headers, text)
    }
  })

  it("are refused without quoting them when they are none", () => {
    for (const [text, entry] of wrong) {
      const parsed = parseOtlpHeaders(text)
      const message = Result.isFailure(parsed) ? parsed.failure : ""
      assert.include(message, `entry ${entry} is not NAME=VALUE`, text)
      assert.notInclude(message, "hush")
    }
    const many = parseOtlpHeaders(Array.from({ length: 33 }, (_, at) => `a${at}=b`).join())
    assert.include(Result.isFailure(many) && many.failure, "at most 32")
  })

  it.effect("are a secret wherever they are said", () =>
    Effect.gen(function* () {
      const environment = { OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20hush" }
      const resolved = yield* resolve(environment)
      const shown = showConfiguration(resolved)
      assert.match(shown, /^otlp-headers +\(hidden\) +environment OTEL_EXPORTER_OTLP_HEADERS$/m)
      const headers = yield* otlpHeadersOf(resolved.values)
      assert.deepStrictEqual(headers && Redacted.value(headers), { authorization: "Bearer hush" })
      assert.notInclude([shown, JSON.stringify(headers)].join(), "hush")
    })
  )

  it.effect("come from a file that only its owner may read", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "holdfast-otlp-"))),
        (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
      )
      const file = join(folder, "headers")
      const fromFile = Effect.flatMap(resolve({ HOLDFAST_OTLP_HEADERS_FILE: file }), ({ values }) =>
        otlpHeadersOf(values)
      )
      writeFileSync(file, "x-key=hush\n", { mode: 0o644 })
      assert.include((yield* Effect.flip(fromFile)).message, `chmod 600 ${file}`)
      rmSync(file)
      writeFileSync(file, "x-key=hush\n", { mode: 0o600 })
      const headers = yield* fromFile
      assert.deepStrictEqual(headers && Redacted.value(headers), { "x-key": "hush" })
      writeFileSync(file, "hush\n")
      const { message } = yield* Effect.flip(fromFile)
      assert.match(message, /^the headers for the collector \(otlp-headers\): entry 1/)
    })
  )
})
