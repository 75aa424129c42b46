/** Collects a whole HTTP body of loopback messaging, up to a bound and within a time. */
import type { IncomingMessage } from "node:http"
import { MessagingError } from "@holdfast/messaging"
import { Effect } from "effect"
import { makeBell } from "./bell.ts"

/** The bytes of a body; `too-large` as soon as it passes the bound. */
export const collectBody = (
  message: IncomingMessage,
  options: { readonly bytesMax: number; readonly waitMs: number; readonly subject?: string }
): Effect.Effect<Uint8Array, MessagingError> => {
  const refuse = (code: MessagingError["code"], text: string) =>
    new MessagingError({ code, subject: options.subject ?? "", message: text })
  const bell = makeBell()
  let pieces: Array<Buffer> = []
  let bytes = 0
  message.on("data", (piece: Buffer) => {
    bytes += piece.length
    if (bytes <= options.bytesMax) pieces.push(piece)
    else pieces = []
    bell.ring()
  })
  for (const event of ["end", "error", "close"]) message.on(event, bell.ring)
  return bell.until(
    () => {
      if (bytes > options.bytesMax) {
        return Effect.fail(refuse("too-large", `more than ${options.bytesMax} bytes`))
      }
      if (message.readableEnded) return Effect.sync(() => new Uint8Array(Buffer.concat(pieces)))
      if (message.destroyed) return Effect.fail(refuse("disconnected", "the connection broke"))
      return undefined
    },
    { waitMs: options.waitMs, late: () => refuse("timeout", `no end after ${options.waitMs} ms`) }
  )
}
