/**
 * Messaging through another process of this machine; see the loopback server.
 *
 * 1. Requests and publishes go through; `serve` and `subscribe` answer `denied`.
 * 2. The access file is read for each exchange: a server that was started anew is found again.
 * 3. While no server listens, everything fails at once with `disconnected`.
 */
import { Agent, type IncomingMessage, request } from "node:http"
import { type ConnectionState, Messaging, MessagingError } from "@holdfast/messaging"
import { Duration, Effect, Layer, Option, Schedule, Schema, Stream } from "effect"
import { makeBell } from "./bell.ts"
import { readAccess } from "./loopback-access.ts"
import { collectBody } from "./loopback-body.ts"
import {
  decodeLoopback,
  encodeLoopback,
  envelopeBytesMax,
  type LoopbackAccess,
  LoopbackError,
  loopbackPaths,
  LoopbackReply,
  LoopbackRequest,
  LoopbackState
} from "./loopback-wire.ts"

const stateWaitMs = 1_000
const publishWaitMs = 10_000
/** How often `states` looks. */
const stateInterval = Duration.seconds(1)
const connectionsMax = 32

interface Exchange {
  readonly path: string
  readonly subject: string
  /** The message with its headers, as the transport counts it. */
  readonly payloadBytes: number
  readonly body: Uint8Array | undefined
  readonly waitMs: number
}

const refuse = (code: MessagingError["code"], subject: string, message: string) =>
  new MessagingError({ code, subject, message })

const errorOf = (body: Uint8Array, exchange: Exchange): MessagingError =>
  Option.match(Schema.decodeUnknownOption(LoopbackError)(new TextDecoder().decode(body)), {
    onSome: ({ code, subject, message }) => refuse(code, subject, message),
    onNone: () => refuse("disconnected", exchange.subject, "something else listens there")
  })

/** Sends one HTTP request; the whole exchange is bounded by the caller's timeout. */
const send = (agent: Agent, access: LoopbackAccess, exchange: Exchange) =>
  Effect.scoped(
    Effect.gen(function* () {
      const bell = makeBell()
      const seen: { response?: IncomingMessage; error?: Error } = {}
      const sent = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const started = request(`${access.url}${exchange.path}`, {
            agent,
            method: exchange.body === undefined ? "GET" : "POST",
            headers: {
              authorization: `Bearer ${access.token}`,
              ...(exchange.body === undefined ? {} : { "content-length": exchange.body.length })
            }
          })
          started.on("response", (response) => {
            seen.response = response
            response.on("error", bell.ring)
            bell.ring()
          })
          started.on("error", (error) => {
            seen.error = error
            bell.ring()
          })
          started.end(exchange.body)
          return started
        }),
        (started) =>
          Effect.sync(() => {
            if (seen.response?.complete !== true) started.destroy()
          })
      )
      const late = () => refuse("timeout", exchange.subject, `no answer in ${exchange.waitMs} ms`)
      const wait = { waitMs: exchange.waitMs, late }
      const response = yield* bell.until(() => {
        if (seen.response !== undefined) return Effect.succeed(seen.response)
        if (seen.error === undefined && !sent.destroyed) return undefined
        const reason = seen.error?.message ?? "the connection closed"
        return Effect.fail(refuse("disconnected", exchange.subject, reason))
      }, wait)
      const body = yield* collectBody(response, {
        bytesMax: access.maxPayloadBytes + envelopeBytesMax,
        waitMs: exchange.waitMs,
        subject: exchange.subject
      })
      return response.statusCode === 200 ? body : yield* errorOf(body, exchange)
    })
  )

const exchangeWith = Effect.fnUntraced(function* (
  agent: Agent,
  accessFile: string,
  exchange: Exchange
) {
  const access = yield* readAccess(accessFile).pipe(
    Effect.mapError((error) => refuse(error.code, exchange.subject, error.message))
  )
  if (exchange.payloadBytes > access.maxPayloadBytes) {
    const message = `${exchange.payloadBytes} bytes, ${access.maxPayloadBytes} can be carried`
    return yield* refuse("too-large", exchange.subject, message)
  }
  return yield* send(agent, access, exchange).pipe(
    Effect.timeoutOrElse({
      duration: exchange.waitMs,
      orElse: () =>
        Effect.fail(refuse("timeout", exchange.subject, `no answer in ${exchange.waitMs} ms`))
    })
  )
})

/** What a caller hands over. */
interface Outgoing {
  readonly subject: string
  readonly headers?: Readonly<Record<string, string>>
  readonly data: Uint8Array
}

const payloadBytesOf = ({ headers = {}, data }: Outgoing): number =>
  Object.entries(headers).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    data.length
  )

type Send = (exchange: Exchange) => Effect.Effect<Uint8Array, MessagingError>

const bodyOf = (outgoing: Outgoing, deadlineMs?: number) =>
  encodeLoopback(LoopbackRequest, {
    envelope: {
      subject: outgoing.subject,
      headers: outgoing.headers ?? {},
      ...(deadlineMs === undefined ? {} : { deadlineMs })
    },
    data: outgoing.data
  })

const decodeReply = (body: Uint8Array, subject: string) =>
  Option.match(decodeLoopback(LoopbackReply, body), {
    onSome: ({ envelope, data }) => Effect.succeed({ headers: envelope.headers, data }),
    onNone: () => Effect.fail(refuse("disconnected", subject, "the answer cannot be decoded"))
  })

const stateOf = (exchange: Send): Effect.Effect<ConnectionState> =>
  exchange({
    path: loopbackPaths.state,
    subject: "",
    payloadBytes: 0,
    body: undefined,
    waitMs: stateWaitMs
  }).pipe(
    Effect.map((body) =>
      Option.match(decodeLoopback(LoopbackState, body), {
        onSome: ({ envelope }) => envelope.state,
        onNone: (): ConnectionState => "reconnecting"
      })
    ),
    Effect.catch(() => Effect.succeed<ConnectionState>("reconnecting"))
  )

const denied = (subject: string) =>
  Effect.fail(
    refuse("denied", subject, "a second terminal sends requests and publishes, it serves nothing")
  )

const messagingOver = (exchange: Send, maxPayloadBytes: number): (typeof Messaging)["Service"] => ({
  request: (options) => {
    const waitMs = Math.max(
      1,
      Math.ceil(Duration.toMillis(Duration.fromInputUnsafe(options.deadline)))
    )
    return exchange({
      path: loopbackPaths.request,
      subject: options.subject,
      payloadBytes: payloadBytesOf(options),
      body: bodyOf(options, waitMs),
      waitMs
    }).pipe(Effect.flatMap((reply) => decodeReply(reply, options.subject)))
  },
  publish: (options) =>
    Effect.asVoid(
      exchange({
        path: loopbackPaths.publish,
        subject: options.subject,
        payloadBytes: payloadBytesOf(options),
        body: bodyOf(options),
        waitMs: publishWaitMs
      })
    ),
  serve: (options) => denied(options.subject),
  subscribe: (options) => denied(options.subject),
  maxPayloadBytes,
  state: stateOf(exchange),
  states: Stream.fromEffectSchedule(stateOf(exchange), Schedule.spaced(stateInterval)).pipe(
    Stream.changes
  )
})

/** Messaging through the server whose access file this is; fails when there is none. */
export const layerLoopbackMessaging = (options: {
  readonly accessFile: string
}): Layer.Layer<Messaging, MessagingError> =>
  Layer.effect(
    Messaging,
    Effect.gen(function* () {
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent({ keepAlive: true, maxSockets: connectionsMax })),
        (made) => Effect.sync(() => made.destroy())
      )
      const access = yield* readAccess(options.accessFile)
      return messagingOver(
        (exchange) => exchangeWith(agent, options.accessFile, exchange),
        access.maxPayloadBytes
      )
    })
  )
