/** Traces, metrics and logs to a collector, by Effect's own OTLP exporters. */
import { Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { Otlp } from "effect/observability"
import type { OtlpHeaders } from "./otlp-headers.ts"
import { holdfastVersion } from "./version.ts"

/** Exports while it lives; what a collector does not take in time is dropped, never kept. */
export const telemetryLayer = (options: {
  readonly endpoint: string
  /** By what the collector knows who sends. */
  readonly headers: OtlpHeaders | undefined
  readonly service: string
  readonly instance: string
}): Layer.Layer<never> => {
  const { endpoint, headers, instance, service } = options
  return Otlp.layerJson({
    baseUrl: endpoint,
    ...(headers === undefined ? {} : { headers: Redacted.value(headers) }),
    resource: {
      serviceName: `holdfast-${service}`,
      serviceVersion: holdfastVersion,
      attributes: { "service.instance.id": instance }
    },
    loggerMergeWithExisting: true,
    shutdownTimeout: "3 seconds"
  }).pipe(Layer.provide(FetchHttpClient.layer))
}
