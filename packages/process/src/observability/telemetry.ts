/** Traces, metrics and logs to a collector, by Effect's own OTLP exporters. */
import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { Otlp } from "effect/observability"
import { holdfastVersion } from "./version.ts"

/** Exports while it lives; what a collector does not take in time is dropped, never kept. */
export const telemetryLayer = (options: {
  readonly endpoint: string
  readonly service: string
  readonly instance: string
}): Layer.Layer<never> => {
  const { endpoint, instance, service } = options
  return Otlp.layerJson({
    baseUrl: endpoint,
    resource: {
      serviceName: `holdfast-${service}`,
      serviceVersion: holdfastVersion,
      attributes: { "service.instance.id": instance }
    },
    loggerMergeWithExisting: true,
    shutdownTimeout: "3 seconds"
  }).pipe(Layer.provide(FetchHttpClient.layer))
}
