/** What a process shows of itself, and how it logs. */
import { Schema } from "effect"
import { optionalText, PlainText, textSetting } from "../configuration/setting.ts"

/** Levels from the quietest on, as `--log-level` takes them. */
export const logLevels = ["none", "fatal", "error", "warn", "info", "debug", "trace"] as const

const hostAndPort = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/

/** An address to listen on. */
const ListenAddress = Schema.String.check(
  Schema.isPattern(hostAndPort, { expected: "HOST:PORT, such as 127.0.0.1:9100" })
)

const HttpUrl = Schema.String.check(
  Schema.isPattern(/^https?:\/\/[^\s/@]+(?:\/\S*)?$/, {
    expected: "a URL such as http://127.0.0.1:4318, without user and password"
  })
)

/** The settings of every process that can be watched. */
export const observabilitySettings = {
  metrics: optionalText(ListenAddress, {
    description: "HOST:PORT that serves /metrics, /health and /ready",
    variables: ["HOLDFAST_METRICS"]
  }),
  logFormat: textSetting(Schema.Literals(["text", "json"]), {
    description: "How log lines look: text or json",
    variables: ["HOLDFAST_LOG_FORMAT"],
    value: "text"
  }),
  otlp: optionalText(HttpUrl, {
    description: "Where traces, metrics and logs are sent as OTLP over HTTP",
    variables: ["HOLDFAST_OTLP", "OTEL_EXPORTER_OTLP_ENDPOINT"]
  }),
  otlpHeaders: optionalText(PlainText, {
    description: "Headers that the collector is sent, as NAME=VALUE, comma separated",
    variables: ["HOLDFAST_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"],
    isSecret: true
  }),
  otlpHeadersFile: optionalText(PlainText, {
    description: "A file that holds these headers, readable by its owner only",
    variables: ["HOLDFAST_OTLP_HEADERS_FILE"]
  })
}

/** The level of the log; its flag is the command line's own `--log-level`. */
export const logLevelSetting = {
  logLevel: textSetting(Schema.Literals(logLevels), {
    description: "The least urgent level that is logged",
    variables: ["HOLDFAST_LOG_LEVEL"],
    value: "info"
  })
}
