/**
 * What the metadata service is asked and what it answers, read off its messages for the oracles.
 *
 *     request ──▶ asked ──▶ the service ──▶ answered ──▶ the network, which may lose it
 */
import type { Messaging } from "@holdfast/messaging"
import {
  decodeFrame,
  MetadataChunkServerOperations,
  MetadataOperations,
  type Operation,
  subjectOf
} from "@holdfast/wire"
import { Effect, Option, Schema } from "effect"
import { clusterId, type Site } from "./site.ts"

/** What is told of one exchange; `response` is none for a refusal. */
interface Exchange {
  readonly asked: (request: Uint8Array) => void
  readonly answered: (request: Uint8Array, response: Uint8Array) => void
}

const refusal = Schema.Struct({ error: Schema.Unknown })

const exchangeOf = <Request, Response>(
  operation: Operation<Request, Response>,
  told: {
    readonly asked?: (request: Request) => void
    readonly answered?: (request: Request, response: Response) => void
  }
): readonly [subject: string, Exchange] => {
  const readRequest = Schema.decodeUnknownOption(
    Schema.fromJsonString(Schema.toCodecJson(operation.request))
  )
  const readReply = Schema.decodeUnknownOption(
    Schema.fromJsonString(
      Schema.Union([Schema.Struct({ ok: Schema.toCodecJson(operation.response) }), refusal])
    )
  )
  const jsonOf = (data: Uint8Array): string | undefined =>
    Option.getOrUndefined(decodeFrame(data))?.json
  const subject = subjectOf({
    cluster: clusterId,
    service: operation.service,
    operation: operation.name
  })
  const exchange: Exchange = {
    asked: (data) => {
      const request = readRequest(jsonOf(data))
      if (Option.isSome(request)) told.asked?.(request.value)
    },
    answered: (asked, answered) => {
      const request = readRequest(jsonOf(asked))
      const reply = readReply(jsonOf(answered))
      if (Option.isNone(request) || Option.isNone(reply)) return
      if ("ok" in reply.value) told.answered?.(request.value, reply.value.ok)
    }
  }
  return [subject, exchange]
}

const modeExchange = (
  site: Site,
  operation: typeof MetadataOperations.freeze | typeof MetadataOperations.offline,
  mayTake: boolean
) =>
  exchangeOf<{ readonly deviceId: string }, unknown>(operation, {
    asked: ({ deviceId }) => site.watch.deviceAsked(deviceId, mayTake),
    answered: ({ deviceId }) => site.watch.deviceAnswered(deviceId, mayTake)
  })

const exchangesOf = (site: Site): ReadonlyMap<string, Exchange> =>
  new Map([
    exchangeOf(MetadataChunkServerOperations.heartbeat, {
      answered: (heartbeat, answer) => site.watch.heartbeatAnswered(heartbeat, answer)
    }),
    exchangeOf(MetadataOperations.alloc, {
      answered: ({ size }, allotted) => site.watch.chunkAllotted(allotted, size)
    }),
    exchangeOf(MetadataOperations.publish, {
      asked: ({ lease }) => site.watch.leaseEnding(lease)
    }),
    exchangeOf(MetadataOperations.abandon, {
      asked: ({ lease }) => site.watch.leaseEnding(lease)
    }),
    exchangeOf(MetadataOperations.locate, {
      answered: (_, location) => site.watch.chunkLocated(location)
    }),
    modeExchange(site, MetadataOperations.freeze, false),
    modeExchange(site, MetadataOperations.drain, false),
    modeExchange(site, MetadataOperations.offline, false),
    modeExchange(site, MetadataOperations.thaw, true)
  ])

/** The messages of the metadata service, watched. */
export const watchMetadata = (
  site: Site,
  messaging: Messaging["Service"]
): Messaging["Service"] => {
  const exchanges = exchangesOf(site)
  return {
    ...messaging,
    serve: (options, handler) => {
      const exchange = exchanges.get(options.subject)
      if (exchange === undefined) return messaging.serve(options, handler)
      return messaging.serve(options, (message) =>
        Effect.suspend(() => {
          exchange.asked(message.data)
          return Effect.tap(handler(message), (reply) =>
            Effect.sync(() => exchange.answered(message.data, reply.data))
          )
        })
      )
    }
  }
}
