/** What travels between peers: diffs where it is known what the other holds, or full states. */
import * as memory from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { Messaging } from "@holdfast/messaging"
import { decodeFrame, decodeParts, PeerReplicationOperations } from "@holdfast/wire"
import { Effect, Layer, Option, Schema } from "effect"
import { eventually, keyOf, makeCluster, makeWorld, type World } from "./testing/cluster.ts"

const address = { application: "counter", key: keyOf(1) }
const decodeRequest = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.toCodecJson(PeerReplicationOperations.merge.request))
)

interface Sizes {
  readonly states: Array<number>
  readonly diffs: Array<number>
}

/** A world that measures what the merges of one peer carry. */
const measured = (world: World, peer: string, sizes: Sizes): World => ({
  ...world,
  node: (name) => {
    const node = world.node(name)
    if (name !== peer) return node
    const measuring = Effect.map(Messaging, (messaging) => {
      const request: typeof messaging.request = (sent) => {
        const frame = Option.getOrNull(decodeFrame(sent.data))
        if (frame !== null && sent.subject.endsWith(".merge")) {
          const parts = Option.getOrElse(decodeParts(frame.attachment), () => [])
          const { items } = decodeRequest(frame.json)
          for (const [index, { application, diffOf }] of items.entries()) {
            if (application !== address.application) continue
            const sent = diffOf === undefined ? sizes.states : sizes.diffs
            sent.push(parts[index]?.length ?? 0)
          }
        }
        return messaging.request(sent)
      }
      return { ...messaging, request }
    })
    return Layer.merge(node, Layer.provide(Layer.effect(Messaging, measuring), node))
  }
})

/** Two peers and a partition that remembers many requests; `a` does the writing. */
const written = Effect.gen(function* () {
  const sizes: Sizes = { states: [], diffs: [] }
  const world = yield* makeWorld(memory)
  const cluster = yield* makeCluster(measured(world, "a", sizes), ["a", "b"])
  for (let count = 0; count < 80; count += 1) {
    yield* cluster.add(keyOf(1), [1], { at: "a", writeConcern: "all" })
  }
  return { cluster, sizes, world }
})

const total = (sizes: ReadonlyArray<number>): number => sizes.reduce((sum, size) => sum + size, 0)

describe("a diff", () => {
  it.live("goes in place of the state, and does not grow with what was folded", () =>
    Effect.gen(function* () {
      const { cluster, sizes } = yield* written
      // Where two messages are under way at once, the later one may not fit what the first left.
      assert.isAbove(sizes.diffs.length, sizes.states.length)
      assert.isBelow(Math.max(...sizes.diffs), 1_000)
      assert.isBelow(total(sizes.diffs.slice(-10)), 2 * total(sizes.diffs.slice(5, 15)))
      const shown = yield* cluster.show(keyOf(1), "b")
      assert.strictEqual(shown.projected, 80)
    })
  )

  it.live("is not made for a later start of the receiver; the full state is taken, once", () =>
    Effect.gen(function* () {
      const { cluster, sizes } = yield* written
      // What differs when it comes back it would tell itself.
      yield* eventually(
        Effect.gen(function* () {
          const digestAt = (peer: string) =>
            cluster.running(peer).parts.engine.table.find(address)?.saved?.digest()
          assert.isDefined(digestAt("a"))
          assert.strictEqual(digestAt("a"), digestAt("b"))
        })
      )
      yield* cluster.stop("b")
      yield* cluster.start("b")
      sizes.states.length = 0
      yield* cluster.add(keyOf(1), [1], { at: "a", writeConcern: "all" })
      yield* cluster.add(keyOf(1), [1], { at: "a", writeConcern: "all" })
      assert.isAtLeast(sizes.states.length, 1)
      yield* eventually(
        Effect.gen(function* () {
          const { infimum, pending } = yield* cluster.show(keyOf(1), "b")
          assert.deepStrictEqual([infimum, pending], [82, 0])
        })
      )
    })
  )

  it.live("that does not fit what both wrote is answered by asking for the state", () =>
    Effect.gen(function* () {
      const { cluster, world } = yield* written
      // Answers are lost: neither knows what the other holds by now.
      const lossy = { loss: 0.3, duplication: 0.3, delayMillis: [0, 20], reorder: 0.3 } as const
      const whole = { loss: 0, duplication: 0, delayMillis: [0, 0], reorder: 0 } as const
      yield* world.network.apply({ _tag: "Links", from: null, to: null, faults: lossy })
      const writes = Array.from({ length: 60 }, (_, count) => count)
      yield* Effect.forEach(
        writes,
        (count) =>
          eventually(
            cluster.add(keyOf(1), [1], {
              at: count % 2 === 0 ? "a" : "b",
              writeConcern: "local",
              millis: 500,
              requestId: `both ${count}`
            })
          ),
        { concurrency: 8, discard: true }
      )
      yield* world.network.apply({ _tag: "Links", from: null, to: null, faults: whole })
      yield* eventually(
        Effect.gen(function* () {
          for (const at of ["a", "b"]) {
            const { infimum, pending } = yield* cluster.show(keyOf(1), at)
            assert.deepStrictEqual([infimum, pending], [140, 0])
          }
        })
      )
    })
  )
})
