/** What chunk servers tell: signs of life with outcomes and changes, and full reports. */
import {
  addressOf,
  heartbeat,
  takeReport,
  writeCommandId,
  type ChunkCommand,
  type CommandOutcome,
  type DeviceAddress,
  type Draft,
  type HeartbeatReply
} from "@holdfast/chunk-map"
import {
  decodeCopies,
  DeviceId,
  ServiceError,
  type MetadataChunkServerOperations,
  type RequestContext
} from "@holdfast/wire"
import { Effect, Option, Result } from "effect"
import { targetOf } from "./capabilities.ts"
import { leaseNumber, waitOf } from "./client-handlers.ts"
import type { Engine } from "./engine.ts"
import { refused } from "./refusals.ts"

type HeartbeatRequest = typeof MetadataChunkServerOperations.heartbeat.request.Type
type HeartbeatResponse = typeof MetadataChunkServerOperations.heartbeat.response.Type
type WireCommand = MetadataChunkServerOperations.ChunkCommand

/** A command with the names and addresses that its indexes stand for. */
interface Addressed {
  readonly command: ChunkCommand
  readonly deviceId: string
  readonly source: DeviceAddress | undefined
}

const address = (draft: Draft, command: ChunkCommand): Addressed => {
  const deviceId = draft.deviceNames[command.device] ?? ""
  const from = command._tag === "Copy" ? draft.deviceNames[command.source] : undefined
  return {
    command,
    deviceId,
    source: from === undefined ? undefined : addressOf(draft, from)
  }
}

const outcomeOf = (
  outcome: MetadataChunkServerOperations.CommandOutcome["outcome"]
): CommandOutcome["outcome"] => {
  switch (outcome._tag) {
    case "Done":
      return { _tag: "Done", chunk: outcome.chunk ?? null }
    case "Corrupt":
      return { _tag: "Corrupt" }
    case "Failed":
      return { _tag: "Failed" }
  }
}

const asWire = (
  engine: Engine,
  addressed: Addressed,
  nowSeconds: number
): ReadonlyArray<WireCommand> => {
  const { command, source } = addressed
  const deviceId = DeviceId.make(addressed.deviceId)
  const { fileId, chunkId, version, deadlineMs } = command
  const chunk = { fileId, chunkId, version }
  const kinds = { Copy: "copy", Delete: "delete", Verify: "verify" } as const
  const commandId = writeCommandId({
    kind: kinds[command._tag],
    commandId: command.commandId,
    copy: chunk
  })
  switch (command._tag) {
    case "Delete":
    case "Verify":
      return [{ _tag: command._tag, commandId, deviceId, chunk, deadlineMs }]
    case "Copy": {
      if (source === undefined) return []
      const read = { address: source, chunk, right: "read", livesMs: deadlineMs } as const
      const { length, checksum } = command
      return [
        {
          _tag: "Copy",
          commandId,
          deviceId,
          chunk: { ...chunk, length, checksum },
          source: targetOf(engine.options, read, nowSeconds),
          deadlineMs
        }
      ]
    }
  }
}

const asResponse = (
  engine: Engine,
  reply: HeartbeatReply,
  commands: ReadonlyArray<Addressed>,
  nowSeconds: number
): HeartbeatResponse => ({
  confirmed: reply.confirmed,
  commands: commands.flatMap((command) => asWire(engine, command, nowSeconds)),
  reportsWanted: reply.reportsWanted.map(({ deviceId, lease, leaseMs }) => ({
    deviceId: DeviceId.make(deviceId),
    lease: String(lease),
    leaseMs: Math.max(0, Math.floor(leaseMs))
  })),
  refused: reply.refused.map(({ deviceId, reason }) => ({
    deviceId: DeviceId.make(deviceId),
    reason
  })),
  intervalMs: reply.intervalMs,
  seconds: nowSeconds
})

/** The handlers of what chunk servers tell. */
export const chunkServerHandlers = (engine: Engine) => ({
  heartbeat: Effect.fnUntraced(function* (request: HeartbeatRequest, context: RequestContext) {
    const outcomes = request.outcomes.map((said) => ({
      ...said,
      outcome: outcomeOf(said.outcome)
    }))
    const beat = { ...request, rack: request.rack ?? "", outcomes }
    const { reply, commands } = yield* engine.submit(
      (draft) =>
        Result.map(Result.mapError(heartbeat(draft, beat), refused), (reply) => ({
          reply,
          commands: reply.commands.map((command) => address(draft, command))
        })),
      waitOf(context)
    )
    return asResponse(engine, reply, commands, yield* engine.seconds)
  }),

  online: Effect.fnUntraced(function* (
    request: typeof MetadataChunkServerOperations.online.request.Type,
    context: RequestContext
  ) {
    const copies = Option.getOrUndefined(decodeCopies(context.attachment))
    if (copies === undefined) {
      const message = "the list of copies is not whole, or names an impossible copy"
      return yield* new ServiceError({ code: "invalid-request", message })
    }
    const { hostId, incarnation, deviceId, epoch, reportId, part, last } = request
    const lease = leaseNumber(request.lease)
    const named = { hostId, incarnation, deviceId, epoch, lease, reportId, part, last, copies }
    const taken = yield* engine.submit(
      (draft) => Result.mapError(takeReport(draft, named), refused),
      { ...waitOf(context), isReport: true }
    )
    return { accepted: taken.accepted }
  })
})
