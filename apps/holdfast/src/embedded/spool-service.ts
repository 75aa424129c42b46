/** The embedded spool as a service: what `ingest` appends to from another terminal. */
import { RecordSpool, type RecordSpoolError } from "@holdfast/records"
import {
  type ClusterId,
  decodeRecords,
  serveOperation,
  ServiceError,
  SpoolOperations
} from "@holdfast/wire"
import { Effect, Option } from "effect"

const concurrency = 16
const backlog = 64

const serviceError = ({ code, message }: RecordSpoolError): ServiceError => {
  switch (code) {
    case "full":
      return new ServiceError({ code: "full", message })
    case "invalid":
      return new ServiceError({ code: "invalid-request", message })
    case "not-found":
      return new ServiceError({ code: "not-found", message })
    case "unavailable":
      return new ServiceError({ code: "unavailable", message, retryAfterMs: 500 })
  }
}

/** Serves the spool until the scope closes. */
export const serveSpool = Effect.fnUntraced(function* (cluster: ClusterId) {
  const spool = yield* RecordSpool
  const serving = { cluster, concurrency, backlog }
  yield* serveOperation(SpoolOperations.append, {
    ...serving,
    handler: Effect.fnUntraced(function* ({ stream }, { attachment, requestId }) {
      const records = decodeRecords(attachment)
      if (Option.isNone(records)) {
        const message = "the attachment is no list of records"
        return yield* new ServiceError({ code: "invalid-request", message })
      }
      const append = spool.append({ stream, appendId: requestId, records: records.value })
      return { response: yield* Effect.mapError(append, serviceError) }
    })
  })
  yield* serveOperation(SpoolOperations.spoolStatus, {
    ...serving,
    handler: () =>
      spool.status.pipe(
        Effect.map((streams) => ({ response: { streams } })),
        Effect.mapError(serviceError)
      )
  })
})
