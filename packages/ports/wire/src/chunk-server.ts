/** What operators ask of one chunk server. */
import { Schema } from "effect"
import { Count, DeviceId, HostId } from "./identifiers.ts"
import { operation } from "./operation.ts"

/** A chunk server's own view of its devices and queues. */
export const chunkServerStatus = operation({
  service: "chunk-server",
  name: "status",
  request: Schema.Struct({}),
  response: Schema.Struct({
    hostId: HostId,
    incarnation: Count,
    url: Schema.String,
    devices: Schema.Array(
      Schema.Struct({
        /** Absent when the directory could not be opened. */
        deviceId: Schema.optionalKey(DeviceId),
        directory: Schema.String,
        state: Schema.Literals(["serving", "refused", "failed"]),
        reason: Schema.optionalKey(Schema.String),
        copies: Count,
        used: Count,
        available: Count
      })
    ),
    commands: Schema.Struct({ copies: Count, deletions: Count, verifications: Count }),
    lastHeartbeatMs: Schema.optionalKey(Count)
  })
})
