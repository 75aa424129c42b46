/** Peers in memory that host the catalogue and answer over Messaging. */
import {
  applyEvent,
  CatalogueEvent,
  CatalogueOutput,
  CatalogueState,
  makeTagIndex
} from "@holdfast/catalogue"
import { compareBytes } from "@holdfast/segment"
import { PeerOperations, serveOperation, ServiceError } from "@holdfast/wire"
import { Effect, Schema } from "effect"
import { cataloguePlatform } from "../platform.ts"
import type { FakeCluster } from "./fake-cluster.ts"

const serving = { concurrency: 16, backlog: 1_000 }
const decodeEvent = Schema.decodeUnknownSync(Schema.toCodecJson(CatalogueEvent))
const encodeOutput = Schema.encodeSync(Schema.toCodecJson(CatalogueOutput))
const encodeState = Schema.encodeSync(Schema.toCodecJson(CatalogueState))
const tags = makeTagIndex(cataloguePlatform)

const compareRecords = (
  left: { readonly tag: Uint8Array; readonly key: string },
  right: { readonly tag: Uint8Array; readonly key: string }
): number =>
  compareBytes(left.tag, right.tag) || (left.key < right.key ? -1 : Number(left.key !== right.key))

/** Serves the operations until the scope closes. */
export const serveFakePeers = (cluster: FakeCluster) =>
  Effect.gen(function* () {
    const { name } = cluster
    const answers = new Map<string, ReadonlyArray<unknown>>()

    yield* serveOperation(PeerOperations.request, {
      cluster: name,
      ...serving,
      handler: ({ events, key }, { requestId }) =>
        Effect.suspend(() => {
          cluster.calls.push("request")
          const before = cluster.failNext.get("request") ?? 0
          if (before > 0) {
            cluster.failNext.set("request", before - 1)
            return Effect.fail(
              new ServiceError({ code: "overloaded", message: "as planned", retryAfterMs: 1 })
            )
          }
          const known = answers.get(requestId)
          const outputs =
            known ??
            events.map((event) => {
              const state = cluster.entries.get(key) ?? { _tag: "Empty" }
              const applied = applyEvent(decodeEvent(event), state)
              cluster.entries.set(key, applied.state)
              return encodeOutput(applied.output)
            })
          answers.set(requestId, outputs)
          const after = cluster.failNext.get("request-answer") ?? 0
          if (after > 0) {
            cluster.failNext.set("request-answer", after - 1)
            return Effect.fail(
              new ServiceError({ code: "timeout", message: "the answer is lost", retryAfterMs: 1 })
            )
          }
          return Effect.succeed({ response: { outputs, heldBy: 3 } })
        })
    })
    yield* serveOperation(PeerOperations.read, {
      cluster: name,
      ...serving,
      handler: ({ key }) =>
        Effect.sync(() => {
          const state = cluster.entries.get(key)
          return { response: { state: state === undefined ? null : encodeState(state) } }
        })
    })
    yield* serveOperation(PeerOperations.search, {
      cluster: name,
      ...serving,
      handler: ({ after, from, limit, upTo, withState }) =>
        Effect.sync(() => {
          cluster.calls.push("search")
          if (cluster.missingPages > 0) {
            cluster.missingPages--
            const range = ["0".repeat(64), "f".repeat(64)] as const
            return { response: { records: [], missing: [range] } }
          }
          const found = Array.from(cluster.entries)
            .flatMap(([key, state]) => tags.tagsOf(state).map((tag) => ({ tag, key, state })))
            .filter(({ tag }) => compareBytes(tag, from) >= 0 && compareBytes(tag, upTo) <= 0)
            .filter((record) => after === undefined || compareRecords(record, after) > 0)
            .toSorted(compareRecords)
          const page = found.slice(0, limit)
          const last = page.at(-1)
          return {
            response: {
              records: page.map(({ key, state, tag }) =>
                withState ? { tag, key, state: encodeState(state) } : { tag, key }
              ),
              missing: [],
              ...(found.length > limit && last !== undefined
                ? { next: { tag: last.tag, key: last.key } }
                : {})
            }
          }
        })
    })
  })
