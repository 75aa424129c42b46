/**
 * A received HTTP body as a stream: back-pressure, a deadline between bytes, and a bound.
 *
 * 1. At most about 1 MiB waits here; then the socket is not read until some was taken.
 * 2. A body that ends before its end is `unreachable`; one that pauses too long is `timeout`.
 */
import type { IncomingMessage } from "node:http"
import { ChunkTransportError } from "@holdfast/storage"
import { Cause, Effect, Stream } from "effect"
import { makeBell } from "./bell.ts"

const bufferedBytesMax = 1024 * 1024

/** Pieces handed on together; more would hide from the other side that they are being taken. */
const takenMax = 4

/** Takes and drops what still comes, so that the other side reads the answer instead of a reset. */
export const discardRest = (message: IncomingMessage, waitMs: number): void => {
  if (message.complete || message.destroyed) return
  const timer = setTimeout(() => message.socket.destroy(), waitMs)
  message.once("close", () => clearTimeout(timer))
  message.once("end", () => clearTimeout(timer))
  message.resume()
}

/** How a body is read. */
export interface BodyOptions {
  readonly deviceId: string
  /** The longest pause between bytes. */
  readonly waitMs: number
  /** Called when the first bytes are wanted. */
  readonly onStart?: () => void
  /** Called each time bytes were taken. */
  readonly onTaken?: (bytes: number) => void
}

type Pieces = readonly [Uint8Array, ...Array<Uint8Array>]

/** The stream of a body's bytes; to be run once. */
export const bodyStream = (
  message: IncomingMessage,
  options: BodyOptions
): Stream.Stream<Uint8Array, ChunkTransportError> => {
  const refuse = (code: ChunkTransportError["code"], text: string) =>
    new ChunkTransportError({ code, deviceId: options.deviceId, message: text })
  const bell = makeBell()
  let pieces: Array<Uint8Array> = []
  let buffered = 0
  let hasStarted = false

  for (const event of ["end", "error", "close"]) message.on(event, bell.ring)
  const keep = (piece: Buffer) => {
    pieces.push(piece)
    buffered += piece.length
    if (buffered >= bufferedBytesMax) message.pause()
    bell.ring()
  }
  const start = () => {
    hasStarted = true
    message.on("data", keep)
    options.onStart?.()
  }
  const stop = () => {
    message.off("data", keep)
    pieces = []
  }
  const take = (): Effect.Effect<Pieces, ChunkTransportError | Cause.Done> | undefined => {
    const [first, ...rest] = pieces.splice(0, takenMax)
    if (first !== undefined) {
      const bytes = rest.reduce((sum, piece) => sum + piece.length, first.length)
      buffered -= bytes
      if (buffered < bufferedBytesMax) message.resume()
      options.onTaken?.(bytes)
      return Effect.succeed([first, ...rest])
    }
    if (message.readableEnded) return Cause.done()
    if (message.destroyed) {
      return Effect.fail(refuse("unreachable", "the connection broke before all bytes came"))
    }
    return undefined
  }
  const pull = bell.until(take, {
    waitMs: options.waitMs,
    late: () => refuse("timeout", `no byte came for ${options.waitMs} ms`)
  })
  return Stream.fromPull(
    Effect.sync(() => {
      if (!hasStarted) start()
      return pull
    })
  ).pipe(Stream.ensuring(Effect.sync(stop)))
}

/** A whole small body as text; `invalid` when it is over `bytesMax`. */
export const bodyText = (
  message: IncomingMessage,
  options: BodyOptions & { readonly bytesMax: number }
): Effect.Effect<string, ChunkTransportError> =>
  bodyStream(message, options).pipe(
    Stream.runFoldEffect(
      (): { readonly pieces: ReadonlyArray<Uint8Array>; readonly bytes: number } => ({
        pieces: [],
        bytes: 0
      }),
      (sum, piece) => {
        const bytes = sum.bytes + piece.length
        return bytes > options.bytesMax
          ? Effect.fail(
              new ChunkTransportError({
                code: "invalid",
                deviceId: options.deviceId,
                message: `an answer over ${options.bytesMax} bytes`
              })
            )
          : Effect.succeed({ pieces: [...sum.pieces, piece], bytes })
      }
    ),
    Effect.map(({ pieces }) => Buffer.concat(pieces).toString("utf8"))
  )
