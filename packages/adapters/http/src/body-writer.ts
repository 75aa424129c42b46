/** Sends pieces of a body with back-pressure and a deadline for the other side to take them. */
import type { OutgoingMessage } from "node:http"
import { ChunkTransportError } from "@holdfast/storage"
import { Effect } from "effect"
import { makeBell } from "./bell.ts"

/** Sends the pieces of one body. */
export interface BodyWriter {
  /** Ends when the transport wants more; at most `highWaterMark` bytes wait in the process. */
  readonly send: (piece: Uint8Array) => Effect.Effect<void, ChunkTransportError>
}

/** Prepares a message for sending. */
export const bodyWriter = (
  message: OutgoingMessage,
  options: {
    readonly deviceId: string
    readonly waitMs: number
    /** When the other side last moved, by `performance.now()`. */
    readonly moved?: () => number
  }
): BodyWriter => {
  const bell = makeBell()
  const refuse = (code: ChunkTransportError["code"], text: string) =>
    new ChunkTransportError({ code, deviceId: options.deviceId, message: text })
  for (const event of ["drain", "close", "error"]) message.on(event, bell.ring)
  const check = () => {
    if (message.destroyed) return Effect.fail(refuse("unreachable", "the connection broke"))
    return message.writableNeedDrain ? undefined : Effect.void
  }
  return {
    send: (piece) =>
      Effect.suspend(() => {
        if (message.destroyed) return Effect.fail(refuse("unreachable", "the connection broke"))
        message.write(piece)
        return bell.until(check, {
          ...options,
          late: () => refuse("timeout", `no byte was taken for ${options.waitMs} ms`)
        })
      })
  }
}
