/** How a chunk server answers: JSON, and bytes with a trailer that says how they ended. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { type ChunkDescription, ChunkTransportError } from "@holdfast/storage"
import { Effect, Stream } from "effect"
import { discardRest } from "./body-reader.ts"
import { bodyWriter } from "./body-writer.ts"
import {
  chunkHeaders,
  completeTrailer,
  encodeError,
  encodeTrailer,
  statusOf
} from "./chunk-exchange.ts"

/** How long a body that is no longer wanted is still taken. */
const discardMs = 2_000

/** The two sides of one HTTP exchange as the server sees it. */
export interface ServerExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Answers with JSON; a body that was not taken to its end closes the connection. */
export const answerJson = (exchange: ServerExchange, status: number, json: string): void => {
  const { request, response } = exchange
  if (response.destroyed || response.headersSent) return
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(json),
    ...(request.complete ? {} : { connection: "close" })
  })
  response.end(json)
  discardRest(request, discardMs)
}

/** Answers with an error. */
export const answerError = (exchange: ServerExchange, error: ChunkTransportError): void =>
  answerJson(exchange, statusOf(error.code), encodeError(error))

/** A body to answer with. */
export interface ChunkBody {
  readonly deviceId: string
  readonly waitMs: number
  readonly description: ChunkDescription
  readonly isRange: boolean
  /** Where the bytes begin in the chunk, and how many they are. */
  readonly start: number
  readonly length: number
  readonly data: Stream.Stream<Uint8Array, ChunkTransportError>
}

const writeHead = (response: ServerResponse, body: ChunkBody): void => {
  const { start, length, description } = body
  const range = `bytes ${start}-${start + length - 1}/${description.length}`
  response.writeHead(body.isRange ? 206 : 200, {
    "content-type": "application/octet-stream",
    trailer: chunkHeaders.end,
    [chunkHeaders.length]: String(length),
    [chunkHeaders.checksum]: String(description.checksum),
    ...(body.isRange && length > 0 ? { "content-range": range } : {})
  })
}

/**
 * Answers with bytes. The head goes out with the first of them: what fails before is an error with
 * its own status; what fails after is told in the trailer.
 */
export const answerBytes = (exchange: ServerExchange, body: ChunkBody): Effect.Effect<void> => {
  const { response } = exchange
  const writer = bodyWriter(response, body)
  const begin = () => {
    if (!response.headersSent) writeHead(response, body)
  }
  const end = (trailer: string) =>
    Effect.sync(() => {
      begin()
      response.addTrailers({ [chunkHeaders.end]: trailer })
      response.end()
    })
  return body.data.pipe(
    Stream.runForEach((piece) => {
      begin()
      return writer.send(piece)
    }),
    Effect.andThen(end(completeTrailer)),
    Effect.catch((error) => {
      if (response.destroyed) return Effect.void
      if (!response.headersSent) return Effect.sync(() => answerError(exchange, error))
      return end(encodeTrailer(error))
    })
  )
}
