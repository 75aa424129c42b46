import { assert, describe, it } from "@effect/vitest"
import { invariants } from "@holdfast/chunk-map"
import { MetadataOperations, ringOfOne, verifyCapability } from "@holdfast/wire"
import { Effect, Result } from "effect"
import { ask, clusterId, mac, makePuppet, makeWorld, ready, write } from "./testing/world.ts"

const { createFile, locate, search, status, free, listChunks, devices, freeze, alloc, publish } =
  MetadataOperations

/** A service with two chunk servers that have reported. */
const running = Effect.fnUntraced(function* (names: ReadonlyArray<string> = ["a", "b"]) {
  const world = yield* makeWorld()
  const service = yield* world.start()
  const puppets = names.map(makePuppet)
  const use = Effect.provide(world.client)
  for (const puppet of puppets) yield* use(puppet.join())
  yield* use(ready)
  return { ...world, service, puppets, use }
})

describe("metadata service", () => {
  it.live("creates, allocates, publishes, locates, lists, frees", () =>
    Effect.gen(function* () {
      const { puppets, use } = yield* running()
      yield* use(
        Effect.gen(function* () {
          const { fileId } = yield* ask(createFile, {})
          const { chunk, published, granted } = yield* write(puppets, fileId)
          assert.strictEqual(published.copies, 2)
          assert.deepStrictEqual(
            published.devices.map((device) => device.status),
            ["counted", "counted"]
          )
          const found = yield* ask(locate, chunk)
          assert.deepStrictEqual(found.chunk, chunk)
          assert.deepStrictEqual(found.holders.map(({ url }) => url).sort(), [
            "memory://a",
            "memory://b"
          ])
          const [holder] = found.holders
          const { fileId: file, chunkId, version } = chunk
          const named = { clusterId, fileId: file, chunkId, version }
          const check = (token: string, right: "read" | "write", deviceId: string) =>
            Result.isSuccess(
              verifyCapability({
                ring: ringOfOne(mac),
                token,
                wanted: { ...named, deviceId, right },
                nowSeconds: Math.floor(Date.now() / 1000)
              })
            )
          assert.isTrue(check(holder!.capability, "read", holder!.deviceId))
          assert.isFalse(check(holder!.capability, "write", holder!.deviceId))
          const [target] = granted.targets
          assert.isTrue(check(target!.capability, "write", target!.deviceId))
          const listed = yield* ask(listChunks, { fileId, limit: 10 })
          assert.deepStrictEqual(
            listed.chunks.map(({ copies, health }) => [copies, health]),
            [[2, "at-goal"]]
          )
          const results = yield* ask(search, { chunks: [chunk, { fileId: 99, chunkId: 0 }] })
          assert.deepStrictEqual(
            results.results.map((result) => result._tag),
            ["Found", "NoSuchChunk"]
          )
          const many = Array.from({ length: 5_000 }, () => chunk)
          const some = (yield* ask(search, { chunks: many })).results
          assert.isTrue(some.length > 500 && some.length < many.length, `${some.length} results`)
          assert.isTrue(some.every(({ _tag }) => _tag === "Found"))
          assert.deepStrictEqual((yield* ask(free, { chunks: [chunk] })).results, ["freed"])
          const reply = yield* puppets[0]!.beat()
          assert.strictEqual(reply.commands[0]?._tag, "Delete")
          const gone = yield* Effect.flip(ask(locate, chunk))
          assert.strictEqual(gone._tag === "ServiceError" && gone.code, "no-such-chunk")
        })
      )
    })
  )

  it.live("metadata-W43: a repeated request is answered as the first, and changes nothing", () =>
    Effect.gen(function* () {
      const { puppets, use, service } = yield* running()
      yield* use(
        Effect.gen(function* () {
          const first = yield* ask(createFile, {}, { requestId: "f" })
          assert.deepStrictEqual(yield* ask(createFile, {}, { requestId: "f" }), first)
          const { fileId } = first
          const wanted = { fileId, size: 1, want: 2, min: 1, exclude: [] }
          const granted = yield* ask(alloc, wanted, { requestId: "a" })
          assert.strictEqual((yield* ask(alloc, wanted, { requestId: "a" })).lease, granted.lease)
          const chunk = { ...granted.chunk, length: 1, checksum: 1 }
          const receipts = puppets.map((puppet) => puppet.store(chunk))
          const commit = { lease: granted.lease, chunk, goal: 2, min: 1, receipts }
          const published = yield* ask(publish, commit, { requestId: "p" })
          assert.deepStrictEqual(yield* ask(publish, commit, { requestId: "p" }), published)
          assert.deepStrictEqual(yield* ask(publish, commit, { requestId: "q" }), published)
          assert.strictEqual(service.state().chunks.size, 1)
        })
      )
    })
  )

  it.live("metadata-W10: a receipt whose proof is forged does not count", () =>
    Effect.gen(function* () {
      const { puppets, use } = yield* running()
      yield* use(
        Effect.gen(function* () {
          const { fileId } = yield* ask(createFile, {})
          const wanted = { fileId, size: 1, want: 2, min: 1, exclude: [] }
          const granted = yield* ask(alloc, wanted)
          const chunk = { ...granted.chunk, length: 1, checksum: 1 }
          const forged = { ...puppets[0]!.store(chunk), proof: "AAAA" }
          const commit = { lease: granted.lease, chunk, goal: 2, min: 1 }
          const error = yield* Effect.flip(ask(publish, { ...commit, receipts: [forged] }))
          assert.strictEqual(error._tag === "ServiceError" && error.code, "too-few-copies")
          const receipts = [forged, puppets[1]!.store(chunk)]
          const published = yield* ask(publish, { ...commit, receipts })
          assert.deepStrictEqual(
            published.devices.map((device) => device.status),
            ["bad-receipt", "counted"]
          )
        })
      )
    })
  )

  it.live("repair: the target is told the source's address with the right to read it", () =>
    Effect.gen(function* () {
      const { puppets, use } = yield* running(["a", "b", "c"])
      yield* use(
        Effect.gen(function* () {
          const { fileId } = yield* ask(createFile, {})
          const granted = yield* ask(alloc, { fileId, size: 1, want: 1, min: 1, exclude: [] })
          const chunk = { ...granted.chunk, length: 1, checksum: 1 }
          const holder = puppets.find(({ deviceId }) => deviceId === granted.targets[0]!.deviceId)!
          const receipts = [holder.store(chunk)]
          yield* ask(publish, { lease: granted.lease, chunk, goal: 2, min: 1, receipts })
          yield* Effect.sleep(50)
          const replies = yield* Effect.forEach(puppets, (puppet) => puppet.beat())
          const [copy] = replies.flatMap((reply) => reply.commands)
          if (copy?._tag !== "Copy") return assert.fail("no copy was told")
          assert.strictEqual(copy.source.url, `memory://${holder.deviceId}`)
          assert.deepStrictEqual(copy.chunk, chunk)
          const target = puppets.find(({ deviceId }) => deviceId === copy.deviceId)!
          target.store(chunk)
          const done = { _tag: "Done", chunk } as const
          const { commandId, deviceId } = copy
          yield* target.beat([{ commandId, deviceId, epoch: 1, outcome: done }])
          const found = yield* ask(locate, chunk)
          assert.strictEqual(found.holders.length, 2)
        })
      )
    })
  )

  it.live("status and devices are typed and paged", () =>
    Effect.gen(function* () {
      const { use } = yield* running(["a", "b", "c"])
      yield* use(
        Effect.gen(function* () {
          const page = yield* ask(devices, { limit: 2 })
          assert.deepStrictEqual(
            [page.devices.map(({ deviceId }) => String(deviceId)), page.more],
            [["a", "b"], true]
          )
          const rest = yield* ask(devices, { limit: 2, after: "b" })
          assert.deepStrictEqual([rest.devices.length, rest.more], [1, false])
          yield* ask(freeze, { deviceId: rest.devices[0]!.deviceId })
          const [frozen] = (yield* ask(devices, { limit: 2, after: "b" })).devices
          assert.strictEqual(frozen?.mode, "frozen")
          const seen = yield* ask(status, {})
          assert.deepStrictEqual(seen.devices, { live: 3, stale: 0, dead: 0, registering: 0 })
          assert.deepStrictEqual(seen.safeMode, { phase: "off", tip: "safe mode is off" })
          assert.deepStrictEqual(seen.violations, [])
        })
      )
    })
  )

  it.live("commits that arrive together share appends, and all are kept", () =>
    Effect.gen(function* () {
      const { puppets, use, service, start } = yield* running()
      const chunks = yield* use(
        Effect.gen(function* () {
          const { fileId } = yield* ask(createFile, {})
          return yield* Effect.forEach(
            Array.from({ length: 200 }, (_one, index) => index),
            () => Effect.map(write(puppets, fileId), ({ chunk }) => chunk),
            { concurrency: 64 }
          )
        })
      )
      assert.strictEqual(new Set(chunks.map(({ chunkId }) => chunkId)).size, 200)
      assert.deepStrictEqual(invariants(service.state()), [])
      yield* service.stop
      const again = yield* start()
      assert.strictEqual(again.state().chunks.size, 200)
      yield* use(Effect.forEach(puppets, (puppet) => puppet.join(7)))
      yield* use(ready)
      const seen = yield* use(ask(status, {}))
      assert.strictEqual(seen.chunks.atGoal, 200)
    })
  )
})
