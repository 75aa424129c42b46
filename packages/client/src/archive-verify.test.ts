import { MemoryNetwork } from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spoilDevice } from "./testing/fake-cluster.ts"
import { makeWithArchive, numbers, positions, range, record } from "./testing/with-archive.ts"

const network = Effect.map(MemoryNetwork.make({ maxPayloadBytes: 1_048_576 }), (made) => ({
  services: MemoryNetwork.layer(made, "services"),
  client: MemoryNetwork.layer(made, "client")
}))
const withArchive = makeWithArchive(network)

describe("verifying", () => {
  it.live("a whole archive is sound; a gap is told", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        yield* seal(range(1, 10))
        yield* seal(range(11, 20))
        yield* seal(range(31, 40))
        const report = yield* archives.verify({ archive: "orders", everyCopy: true })
        assert.deepInclude(report, { segments: 3, records: 30, copies: 6, sound: true })
        assert.deepStrictEqual(report.findings, [
          { _tag: "Gap", shard: "ORDERS", from: 21n, to: 30n }
        ])
      })
    )
  )

  it.live("finds a spoilt copy, and a segment that no device has whole", () =>
    withArchive(({ archives, cluster, seal }) =>
      Effect.gen(function* () {
        yield* seal(range(1, 10))
        spoilDevice(cluster, "d2")
        const one = yield* archives.verify({ archive: "orders", everyCopy: true })
        assert.deepInclude(one.findings[0], { _tag: "BadCopy", deviceId: "d2" })
        assert.isFalse(one.sound)
        spoilDevice(cluster, "d1")
        const both = yield* archives.verify({ archive: "orders" })
        assert.deepInclude(both.findings[0], { _tag: "Unreadable", first: 1n, last: 10n })
      })
    )
  )

  it.live("repairs: an orphan that is needed is adopted, one that is covered is freed", () =>
    withArchive(({ archives, cluster, seal }) =>
      Effect.gen(function* () {
        yield* seal(range(1, 10))
        yield* seal(range(1, 5), { until: "committed" })
        yield* seal(range(11, 20), { until: "committed" })
        const outcomes = (report: { readonly findings: ReadonlyArray<object> }) =>
          report.findings.map((one) => ("outcome" in one ? one.outcome : one))
        const found = yield* archives.verify({ archive: "orders" })
        assert.deepStrictEqual(outcomes(found), ["left", "left"])
        assert.isFalse(found.sound)
        const repaired = yield* archives.verify({ archive: "orders", repair: true })
        assert.deepStrictEqual(outcomes(repaired), ["freed", "adopted"])
        assert.isTrue(repaired.sound)
        const after = yield* archives.verify({ archive: "orders" })
        assert.deepStrictEqual(after.findings, [])
        assert.deepStrictEqual(
          yield* positions(archives.read({ archive: "orders" })),
          numbers(1, 20)
        )
        assert.strictEqual(cluster.chunks.filter(({ isFreed }) => isFreed).length, 1)
      })
    )
  )

  it.live("removes a segment only when every record of it is in another", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        yield* seal(
          [1, 3, 5, 9].map((at) => record(at)),
          { complete: false }
        )
        yield* seal(
          [3, 5].map((at) => record(at)),
          { complete: false }
        )
        yield* seal(
          [2, 4].map((at) => record(at)),
          { complete: false }
        )
        const report = yield* archives.verify({ archive: "orders", repair: true })
        assert.deepStrictEqual(report.findings, [
          { _tag: "Covered", shard: "ORDERS", first: 3n, last: 5n, outcome: "removed" }
        ])
        assert.deepStrictEqual(
          yield* positions(archives.read({ archive: "orders" })),
          [1, 2, 3, 4, 5, 9]
        )
      })
    )
  )
})
