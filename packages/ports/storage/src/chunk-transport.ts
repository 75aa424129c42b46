/**
 * The ChunkTransport port: chunk bytes between clients and chunk servers, past the broker.
 *
 *     client ──bytes──▶ first server ──bytes──▶ second server ──▶ ...
 *            ◀─receipts─             ◀─receipts─
 *
 * 1. Every call carries a capability for its chunk, device, right and time; without one it is
 *    refused.
 * 2. `write` answers a receipt for each device whose copy is durable, and an error for each other
 *    one.
 * 3. Bytes are streamed with back-pressure; neither side holds a whole chunk.
 * 4. Every wait has a deadline: to connect, between bytes, and for the answer.
 */
import type { Duration, Effect, Option, Scope, Stream } from "effect"
import { Context, Schema } from "effect"
import { type ByteRange, ChunkDescription, type ChunkName } from "./chunk.ts"

/** Where a copy is or shall be, and the right to touch it. */
export const ChunkTarget = Schema.Struct({
  deviceId: Schema.String,
  hostId: Schema.String,
  /** The chunk server's base URL. */
  url: Schema.String,
  /** A capability token, see the wire package. */
  capability: Schema.String
})
/** Where a copy is or shall be, and the right to touch it. */
export type ChunkTarget = typeof ChunkTarget.Type

/** A chunk server's word that a copy is durable; `proof` is made with the cluster's key. */
export const ChunkReceipt = Schema.Struct({
  deviceId: Schema.String,
  /** The device's epoch when it was written. */
  epoch: Schema.Natural,
  chunk: ChunkDescription,
  proof: Schema.String
})
/** A chunk server's word that a copy is durable. */
export type ChunkReceipt = typeof ChunkReceipt.Type

/**
 * The bytes did not travel. Codes of the device are passed on (`full`, `not-found`, `corrupt`,
 * `unavailable`, `exists`, `out-of-range`); `denied`: the capability; `timeout`: a deadline;
 * `unreachable`: no connection, or it broke; `untrusted`: one side's certificate is not accepted by
 * the other; `overloaded`: too many transfers; `invalid`: the request.
 */
export class ChunkTransportError extends Schema.TaggedError<ChunkTransportError>()(
  "ChunkTransportError",
  {
    code: Schema.Literals([
      "full",
      "not-found",
      "corrupt",
      "unavailable",
      "exists",
      "out-of-range",
      "denied",
      "timeout",
      "unreachable",
      "untrusted",
      "overloaded",
      "invalid"
    ]),
    deviceId: Schema.String,
    message: Schema.String
  }
) {}

/** What became of one target of a write. */
export type WriteOutcome =
  | { readonly _tag: "Stored"; readonly receipt: ChunkReceipt }
  | { readonly _tag: "Refused"; readonly deviceId: string; readonly error: ChunkTransportError }

/** The client's side of the data path. */
export class ChunkTransport extends Context.Service<
  ChunkTransport,
  {
    /** Sends a chunk to the first target, which passes it on; one outcome a target, in order. */
    readonly write: (options: {
      readonly chunk: ChunkName
      readonly length: number
      readonly targets: ReadonlyArray<ChunkTarget>
      readonly data: Stream.Stream<Uint8Array>
      readonly deadline: Duration.Input
    }) => Effect.Effect<ReadonlyArray<WriteOutcome>>
    /** Reads a chunk or a range of it from one holder. `deadline` is for each wait for bytes. */
    readonly read: (options: {
      readonly chunk: ChunkName
      readonly source: ChunkTarget
      readonly range: Option.Option<ByteRange>
      readonly deadline: Duration.Input
    }) => Stream.Stream<Uint8Array, ChunkTransportError>
  }
>()("@holdfast/storage/ChunkTransport") {}

/** What a chunk server does for the data path; capabilities are checked by the handlers. */
export interface ChunkEndpointHandlers {
  readonly write: (options: {
    readonly chunk: ChunkName
    readonly length: number
    /** This server's own target first, then those to pass the bytes on to. */
    readonly targets: ReadonlyArray<ChunkTarget>
    readonly data: Stream.Stream<Uint8Array, ChunkTransportError>
    readonly deadline: Duration.Duration
  }) => Effect.Effect<ReadonlyArray<WriteOutcome>>
  readonly read: (options: {
    readonly chunk: ChunkName
    readonly deviceId: string
    readonly capability: string
    readonly range: Option.Option<ByteRange>
  }) => Effect.Effect<
    {
      readonly description: ChunkDescription
      readonly data: Stream.Stream<Uint8Array, ChunkTransportError>
    },
    ChunkTransportError
  >
}

/** The server's side of the data path. */
export class ChunkEndpoint extends Context.Service<
  ChunkEndpoint,
  {
    /**
     * Serves until the scope closes; answers the base URL. Closing waits for transfers that run.
     */
    readonly listen: (options: {
      readonly host: string
      /** 0 for any free port. */
      readonly port: number
      /** Transfers at a time; one more is answered `overloaded`. */
      readonly transfersMax: number
      readonly handlers: ChunkEndpointHandlers
    }) => Effect.Effect<{ readonly url: string }, ChunkTransportError, Scope.Scope>
  }
>()("@holdfast/storage/ChunkEndpoint") {}
