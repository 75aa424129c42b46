/**
 * The contract of the ChunkTransport and ChunkEndpoint ports together, as tests that any adapter
 * runs. The numbers in the test names are those of the port's module comment.
 */
import { assert, describe, it } from "@effect/vitest"
import { ChunkTransport } from "@holdfast/storage"
import { Deferred, Effect, Exit, Fiber, Option, Scope, Stream } from "effect"
import { describeChunkDeadlines } from "./chunk-deadlines.ts"
import {
  chunk,
  onPath,
  pieces,
  read,
  refusal,
  startServer,
  write,
  writeStream
} from "./chunk-path.ts"
import type { ChunkTransportContract } from "./chunk-transport-contract.ts"
import { patterned } from "./devices.ts"

/** Runs the contract of the chunk data path against an adapter. */
export const describeChunkTransportContract = (contract: ChunkTransportContract): void => {
  describe(`ChunkTransport contract: ${contract.name}`, () => {
    describeWrites(contract)
    describeChains(contract)
    describeReads(contract)
    describeReadRefusals(contract)
    describeBackPressure(contract)
    describeLimits(contract)
    describeChunkDeadlines(contract)
  })
}

const lengths = [0, 1, 65_536, 3_000_001]

const describeWrites = ({ layer }: ChunkTransportContract): void => {
  it.live("2: a write of any length is stored byte for byte, and answers its receipt", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1")
      for (const length of lengths) {
        const bytes = patterned(length)
        assert.deepStrictEqual(yield* write([server.target], bytes), [`d1 stored ${length}`])
        assert.deepStrictEqual(server.copies.get("d1"), bytes)
      }
    }).pipe(onPath(layer))
  )

  it.live("1: the handler gets the chunk, the length and each target's capability", () =>
    Effect.gen(function* () {
      const first = yield* startServer("d1")
      const second = yield* startServer("d2")
      yield* write([first.target, second.target], patterned(1_000))
      const [request] = first.written
      assert.deepStrictEqual([request?.chunk, request?.length], [chunk, 1_000])
      const [own, next] = request?.targets ?? []
      assert.deepStrictEqual(
        [own?.deviceId, own?.capability],
        [first.target.deviceId, first.target.capability]
      )
      assert.deepStrictEqual(next, second.target)
      assert.strictEqual(second.written[0]?.targets[0]?.capability, second.target.capability)
    }).pipe(onPath(layer))
  )
}

const describeChains = ({ layer, deadUrl }: ChunkTransportContract): void => {
  it.live("2: a chain answers one outcome a target, in order, also when one is refused", () =>
    Effect.gen(function* () {
      const first = yield* startServer("d1")
      const second = yield* startServer("d2", { beforeWrite: refusal("full", "d2") })
      const third = yield* startServer("d3")
      const targets = [first.target, second.target, third.target]
      const outcomes = yield* write(targets, patterned(200_000))
      assert.deepStrictEqual(outcomes.slice(0, 2), ["d1 stored 200000", "d2 full"])
      assert.strictEqual(outcomes.length, 3)
      assert.deepStrictEqual(first.copies.get("d1"), patterned(200_000))
    }).pipe(onPath(layer))
  )

  it.live("2: a first server that is not there refuses all targets as unreachable", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d2")
      const dead = { ...server.target, deviceId: "d1", url: deadUrl }
      const outcomes = yield* write([dead, server.target], patterned(100))
      assert.deepStrictEqual(outcomes, ["d1 unreachable", "d2 unreachable"])
      const later = yield* write([server.target, { ...dead, deviceId: "d3" }], patterned(100))
      assert.deepStrictEqual(later, ["d2 stored 100", "d3 unreachable"])
    }).pipe(onPath(layer))
  )

  it.live("a write to no target answers no outcome", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* write([], patterned(10)), [])
    }).pipe(onPath(layer))
  )

  it.live("data of another length than announced is invalid and stored nowhere", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1")
      for (const length of [99, 101]) {
        const outcomes = yield* write([server.target], patterned(100), { length })
        assert.deepStrictEqual(outcomes, ["d1 invalid"])
      }
      assert.strictEqual(server.copies.size, 0)
    }).pipe(onPath(layer))
  )

  const codes = ["full", "corrupt", "unavailable", "exists", "denied"] as const
  it.live("2: a device's refusal midway arrives with its own code", () =>
    Effect.forEach(codes, (code) =>
      Effect.scoped(
        Effect.gen(function* () {
          const server = yield* startServer("d1", {
            afterPiece: (received) => (received > 100_000 ? refusal(code, "d1") : Effect.void)
          })
          const outcomes = yield* write([server.target], patterned(4_000_000))
          assert.deepStrictEqual(outcomes, [`d1 ${code}`])
        })
      )
    ).pipe(onPath(layer))
  )
}

const describeReads = ({ layer }: ChunkTransportContract): void => {
  it.live("a read of any length or range comes back byte for byte", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1")
      for (const length of lengths) {
        const bytes = patterned(length)
        server.copies.set("d1", bytes)
        assert.deepStrictEqual(yield* read(server.target), bytes)
        const middle = Math.floor(length / 2)
        const ranges = [
          { start: 0, end: 0 },
          { start: 0, end: middle },
          { start: middle, end: length }
        ]
        for (const range of ranges) {
          const part = yield* read(server.target, { range })
          assert.deepStrictEqual(part, bytes.slice(range.start, range.end))
        }
      }
    }).pipe(onPath(layer))
  )

  it.live("1: the handler gets the chunk, the device, the capability and the range", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1")
      server.copies.set("d1", patterned(100))
      yield* read(server.target)
      yield* read(server.target, { range: { start: 5, end: 9 } })
      const { deviceId, capability } = server.target
      const asked = { chunk, deviceId, capability }
      assert.deepStrictEqual(server.asked, [
        { ...asked, range: Option.none() },
        { ...asked, range: Option.some({ start: 5, end: 9 }) }
      ])
    }).pipe(onPath(layer))
  )
}

const describeReadRefusals = ({ layer, deadUrl }: ChunkTransportContract): void => {
  it.live("each refusal of a read arrives with its code", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1")
      const codeOf = (source: typeof server.target, range?: { start: number; end: number }) =>
        Effect.map(Effect.flip(read(source, range === undefined ? {} : { range })), (e) => e.code)
      assert.strictEqual(yield* codeOf(server.target), "not-found")
      server.copies.set("d1", patterned(10))
      assert.strictEqual(yield* codeOf(server.target, { start: 0, end: 11 }), "out-of-range")
      const stranger = { ...server.target, capability: "another.one" }
      assert.strictEqual(yield* codeOf(stranger), "denied")
      assert.strictEqual(yield* codeOf({ ...server.target, url: deadUrl }), "unreachable")
    }).pipe(onPath(layer))
  )

  it.live("damage that is found midway ends the read with corrupt after the good bytes", () =>
    Effect.gen(function* () {
      const good = Stream.fromIterable(pieces(patterned(131_072), 65_536))
      const server = yield* startServer("d1", {
        data: Stream.concat(good, Stream.fail(refusal("corrupt", "d1", "corrupt")))
      })
      server.copies.set("d1", patterned(300_000))
      let received = 0
      const transport = yield* ChunkTransport
      const error = yield* transport
        .read({ chunk, source: server.target, range: Option.none(), deadline: "10 seconds" })
        .pipe(
          Stream.runForEach((piece) =>
            Effect.sync(() => {
              received += piece.length
            })
          ),
          Effect.flip
        )
      assert.deepStrictEqual([error.code, error.deviceId], ["corrupt", "d1"])
      assert.isAtMost(received, 131_072)
    }).pipe(onPath(layer))
  )
}

const describeBackPressure = ({ layer, bytesAheadMax }: ChunkTransportContract): void => {
  const pieceBytes = 262_144
  const total = Math.ceil((2 * bytesAheadMax) / pieceBytes) * pieceBytes + 8 * pieceBytes
  const counted = (count: (pulled: number) => void) => {
    let pulled = 0
    const piece = patterned(pieceBytes)
    return Stream.fromIterable(Array.from({ length: total / pieceBytes }, () => piece)).pipe(
      Stream.rechunk(1),
      Stream.tap(() =>
        Effect.sync(() => {
          pulled += pieceBytes
          count(pulled)
        })
      )
    )
  }

  it.live("3: a refusal before the first byte costs no byte", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1", { beforeWrite: refusal("full", "d1") })
      let pulled = 0
      const data = counted((now) => (pulled = now))
      const outcomes = yield* writeStream([server.target], data, {
        length: total,
        deadline: "10 seconds"
      })
      assert.deepStrictEqual([outcomes, pulled], [["d1 full"], 0])
    }).pipe(onPath(layer))
  )

  it.live("3: a receiver that does not take bytes holds the sender back", () =>
    Effect.gen(function* () {
      const go = yield* Deferred.make<void>()
      const server = yield* startServer("d1", { afterPiece: () => Deferred.await(go) })
      let pulled = 0
      const data = counted((now) => (pulled = now))
      const writing = yield* Effect.forkChild(
        writeStream([server.target], data, { length: total, deadline: "20 seconds" })
      )
      yield* Effect.sleep("300 millis")
      assert.isAbove(pulled, 0)
      assert.isAtMost(pulled, bytesAheadMax)
      yield* Deferred.succeed(go, undefined)
      assert.deepStrictEqual(yield* Fiber.join(writing), [`d1 stored ${total}`])
    }).pipe(onPath(layer))
  )

  it.live("3: a reader that stops early stops the holder", () =>
    Effect.gen(function* () {
      let pulled = 0
      const ended = yield* Deferred.make<void>()
      const data = counted((now) => (pulled = now)).pipe(
        Stream.ensuring(Deferred.succeed(ended, undefined))
      )
      const server = yield* startServer("d1", { data })
      server.copies.set("d1", new Uint8Array(total))
      const transport = yield* ChunkTransport
      const first = yield* transport
        .read({ chunk, source: server.target, range: Option.none(), deadline: "10 seconds" })
        .pipe(Stream.runHead)
      assert.isTrue(Option.isSome(first))
      yield* Effect.timeout(Deferred.await(ended), "10 seconds")
      assert.isAtMost(pulled, bytesAheadMax)
    }).pipe(onPath(layer))
  )
}

const describeLimits = ({ layer }: ChunkTransportContract): void => {
  it.live("one transfer over the limit is overloaded at once, and served when there is room", () =>
    Effect.gen(function* () {
      const go = yield* Deferred.make<void>()
      const entered = yield* Deferred.make<void>()
      const server = yield* startServer("d1", {
        transfersMax: 1,
        beforeWrite: Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(go))
      })
      const first = yield* Effect.forkChild(write([server.target], patterned(10)))
      yield* Deferred.await(entered)
      assert.deepStrictEqual(yield* write([server.target], patterned(10)), ["d1 overloaded"])
      const error = yield* Effect.flip(read(server.target))
      assert.strictEqual(error.code, "overloaded")
      yield* Deferred.succeed(go, undefined)
      assert.deepStrictEqual(yield* Fiber.join(first), ["d1 stored 10"])
      const later = write([server.target], patterned(10))
      const settled = Effect.repeat(Effect.andThen(Effect.sleep("5 millis"), later), {
        until: (outcomes) => outcomes[0] !== "d1 overloaded",
        times: 100
      })
      assert.deepStrictEqual(yield* settled, ["d1 stored 10"])
    }).pipe(onPath(layer))
  )

  it.live("closing a server waits for the transfer that runs; afterwards it is unreachable", () =>
    Effect.gen(function* () {
      const go = yield* Deferred.make<void>()
      const entered = yield* Deferred.make<void>()
      const scope = yield* Scope.make()
      const server = yield* startServer("d1", {
        beforeWrite: Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(go))
      }).pipe(Scope.provide(scope))
      const writing = yield* Effect.forkChild(write([server.target], patterned(100_000)))
      yield* Deferred.await(entered)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      const early = yield* Effect.timeoutOption(Fiber.await(closing), "50 millis")
      assert.isTrue(Option.isNone(early), "the server closed while a transfer ran")
      yield* Deferred.succeed(go, undefined)
      assert.deepStrictEqual(yield* Fiber.join(writing), ["d1 stored 100000"])
      yield* Fiber.join(closing)
      assert.deepStrictEqual(yield* write([server.target], patterned(10)), ["d1 unreachable"])
    }).pipe(onPath(layer))
  )
}
