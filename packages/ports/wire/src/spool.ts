/** The embedded record stream, for programs and terminals that have no JetStream. */
import { Schema } from "effect"
import { Count } from "./identifiers.ts"
import { operation } from "./operation.ts"

/** A stream's name: what a JetStream stream may be called, too. */
export const StreamName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{1,255}$/, { expected: "1 to 255 letters, digits, '-' or '_'" })
)

/**
 * Appends the records packed in the attachment (see record-list); durable when answered. The
 * request id names the append, so a retry adds nothing. Errors: `full`, `invalid-request`.
 */
export const append = operation({
  service: "spool",
  name: "append",
  request: Schema.Struct({ stream: StreamName }),
  response: Schema.Struct({ first: Schema.BigInt, last: Schema.BigInt })
})

/** The streams that the spool holds. */
export const spoolStatus = operation({
  service: "spool",
  name: "status",
  request: Schema.Struct({}),
  response: Schema.Struct({
    streams: Schema.Array(
      Schema.Struct({
        stream: Schema.String,
        first: Schema.BigInt,
        last: Schema.BigInt,
        bytes: Count
      })
    )
  })
})
