/**
 * The headers that a collector is sent with everything, as OpenTelemetry writes them: names and
 * values joined by `=`, comma separated, values percent-encoded where they must be.
 */
import { Effect, Option, Redacted, Result } from "effect"
import { type CommandFailure, failure } from "../command-failure.ts"
import { secretOf } from "../configuration/secret.ts"
import type { SettingValues } from "../configuration/setting.ts"
import type { observabilitySettings } from "./observability-settings.ts"

/** Headers by their names in lower case; hidden, since one of them is a secret most often. */
export type OtlpHeaders = Redacted.Redacted<Readonly<Record<string, string>>>

const headersMax = 32
/** A token of RFC 9110. */
const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/

const decoded = (text: string): Option.Option<string> =>
  Option.filter(Option.liftThrowable(decodeURIComponent)(text), (value) => valuePattern.test(value))

/** Parses a list; the failure says which entry is wrong, and quotes nothing of it. */
export const parseOtlpHeaders = (
  text: string
): Result.Result<Readonly<Record<string, string>>, string> => {
  const entries = text.split(",").map((entry) => entry.trim())
  if (entries.length > headersMax) {
    return Result.fail(`there are ${entries.length} headers, at most ${headersMax} are sent`)
  }
  const headers: Record<string, string> = {}
  for (const [index, entry] of entries.entries()) {
    // A comma at the end is a habit of many.
    if (entry === "" && index === entries.length - 1 && index > 0) continue
    const at = entry.indexOf("=")
    const name = entry.slice(0, Math.max(0, at)).trim()
    const value = decoded(entry.slice(at + 1).trim())
    if (!namePattern.test(name) || Option.isNone(value)) {
      return Result.fail(`entry ${index + 1} is not NAME=VALUE with the value percent-encoded`)
    }
    headers[name.toLowerCase()] = value.value
  }
  return Result.succeed(headers)
}

/** The headers that the settings name; fails with what is wrong. */
export const otlpHeadersOf = (
  values: SettingValues<typeof observabilitySettings>
): Effect.Effect<OtlpHeaders | undefined, CommandFailure> =>
  Effect.gen(function* () {
    const said = yield* secretOf(values.otlpHeaders, values.otlpHeadersFile)
    if (said === undefined) return undefined
    const headers = parseOtlpHeaders(Redacted.value(said))
    return Result.isSuccess(headers)
      ? Redacted.make(headers.success)
      : yield* failure(`the headers for the collector (otlp-headers): ${headers.failure}`)
  })
