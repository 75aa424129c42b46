import { crc32 } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import type { ChunkName } from "@holdfast/storage"
import { DeviceId, type MetadataChunkServerOperations } from "@holdfast/wire"
import { Effect } from "effect"
import {
  chunkNamed,
  type Cluster,
  damage,
  eventually,
  makeCluster,
  patterned,
  read,
  summary,
  target,
  write
} from "./testing/cluster-fixture.ts"

type ChunkCommand = MetadataChunkServerOperations.ChunkCommand

const chunk = chunkNamed(7)
const bytes = patterned(100_000)
const described = (of: Uint8Array) => ({ ...chunk, length: of.length, checksum: crc32(of) })

/** What has been told of a command so far, oldest first. */
const outcomesOf = (cluster: Cluster, commandId: string) =>
  cluster.metadata.heartbeats
    .flatMap(({ outcomes }) => outcomes)
    .filter((outcome) => outcome.commandId === commandId)

/** Gives a command and waits for its outcome. */
const carryOut = Effect.fnUntraced(function* (cluster: Cluster, command: ChunkCommand) {
  cluster.metadata.commands.push(command)
  yield* eventually(() => outcomesOf(cluster, command.commandId).length > 0)
  cluster.metadata.commands.splice(0)
  return outcomesOf(cluster, command.commandId)[0]?.outcome
})

const order = (commandId: string, deviceId: string, of: ChunkName = chunk) => ({
  commandId,
  deviceId: DeviceId.make(deviceId),
  chunk: of,
  deadlineMs: 5_000
})

const twoServers = Effect.gen(function* () {
  const cluster = yield* makeCluster
  const first = yield* cluster.startServer("h1", ["d1"])
  const second = yield* cluster.startServer("h2", ["d2"])
  const targets = [target(first, "d1", chunk, "write")]
  assert.deepStrictEqual(summary(yield* write(cluster, chunk, bytes, targets)), ["d1 stored"])
  const copyOrder = (commandId: string, of = described(bytes)): ChunkCommand => ({
    _tag: "Copy",
    ...order(commandId, "d2"),
    chunk: of,
    source: target(first, "d1", chunk, "read")
  })
  return { cluster, first, second, copyOrder }
})

describe("commands", () => {
  it.live("a copy is read from its source, stored, and told with what it is", () =>
    Effect.gen(function* () {
      const { cluster, second, copyOrder } = yield* twoServers
      const outcome = yield* carryOut(cluster, copyOrder("copy.1"))
      assert.deepStrictEqual(outcome, { _tag: "Done", chunk: described(bytes) })
      const source = target(second, "d2", chunk, "read")
      assert.deepStrictEqual(yield* read(cluster, chunk, source), bytes)
      const again = yield* carryOut(cluster, copyOrder("copy.2"))
      assert.deepStrictEqual(again, outcome, "one that is there already is as good")
    })
  )

  it.live("metadata-B32: a source that is damaged gives no copy, and is named as corrupt", () =>
    Effect.gen(function* () {
      const { cluster, first, second, copyOrder } = yield* twoServers
      yield* damage(first.disk, "d1", chunk)
      const outcome = yield* carryOut(cluster, copyOrder("copy.1"))
      assert.strictEqual(outcome?._tag, "Corrupt")
      const error = yield* Effect.flip(
        Effect.asVoid(read(cluster, chunk, target(second, "d2", chunk, "read")))
      )
      assert.strictEqual(error.code, "not-found")
    })
  )

  it.live("metadata-B24: bytes that are not those of the chunk become no copy", () =>
    Effect.gen(function* () {
      const { cluster, second, copyOrder } = yield* twoServers
      const other = described(patterned(100_000, 2))
      assert.strictEqual((yield* carryOut(cluster, copyOrder("copy.1", other)))?._tag, "Corrupt")
      const shorter = { ...described(bytes), length: 99_999 }
      const outcome = yield* carryOut(cluster, copyOrder("copy.2", shorter))
      assert.strictEqual(outcome?._tag, "Failed")
      const error = yield* Effect.flip(
        Effect.asVoid(read(cluster, chunk, target(second, "d2", chunk, "read")))
      )
      assert.strictEqual(error.code, "not-found")
    })
  )

  it.live("a source that is away is a failure to try again, not damage", () =>
    Effect.gen(function* () {
      const { cluster, copyOrder } = yield* twoServers
      const command = copyOrder("copy.1")
      const away = { ...command, source: target(nowhere, "d1", chunk, "read") }
      const outcome = yield* carryOut(cluster, away)
      assert.deepInclude(outcome, { _tag: "Failed", code: "unreachable" })
    })
  )

  it.live("metadata-W12: a deletion is acknowledged, also of what is not there", () =>
    Effect.gen(function* () {
      const { cluster, first } = yield* twoServers
      const remove = (commandId: string): ChunkCommand => ({
        _tag: "Delete",
        ...order(commandId, "d1")
      })
      assert.deepStrictEqual(yield* carryOut(cluster, remove("delete.1")), { _tag: "Done" })
      assert.deepStrictEqual(yield* carryOut(cluster, remove("delete.2")), { _tag: "Done" })
      const error = yield* Effect.flip(
        Effect.asVoid(read(cluster, chunk, target(first, "d1", chunk, "read")))
      )
      assert.strictEqual(error.code, "not-found")
      const held = () =>
        cluster.metadata.heartbeats.findLast(({ hostId }) => hostId === "h1")?.devices[0]?.digest
      yield* eventually(() => held()?.count === 0)
      assert.deepStrictEqual(held(), { count: 0, low: 0, high: 0 })
    })
  )

  it.live("an outcome is told until it is confirmed; its command does not run again", () =>
    Effect.gen(function* () {
      const { cluster, copyOrder } = yield* twoServers
      cluster.metadata.isConfirming = false
      cluster.metadata.commands.push(copyOrder("copy.1"))
      yield* eventually(() => outcomesOf(cluster, "copy.1").length > 3)
      cluster.metadata.commands.splice(0)
      const told = new Set(outcomesOf(cluster, "copy.1").map(({ outcome }) => outcome._tag))
      assert.deepStrictEqual(told, new Set(["Done"]))
      cluster.metadata.isConfirming = true
      const beats = cluster.metadata.heartbeats
      const isSilent = () =>
        beats.slice(-6).every(({ outcomes }) => outcomes.length === 0) && beats.length > 6
      yield* eventually(isSilent)
    })
  )

  it.live("metadata-B27: the server checks for itself; damage and absence are corrupt", () =>
    Effect.gen(function* () {
      const { cluster, first } = yield* twoServers
      const verify = (commandId: string, of = chunk): ChunkCommand => ({
        _tag: "Verify",
        ...order(commandId, "d1", of)
      })
      const good = yield* carryOut(cluster, verify("verify.1"))
      assert.deepStrictEqual(good, { _tag: "Done", chunk: described(bytes) })
      const missing = yield* carryOut(cluster, verify("verify.2", chunkNamed(99)))
      assert.strictEqual(missing?._tag, "Corrupt")
      yield* damage(first.disk, "d1", chunk)
      assert.strictEqual((yield* carryOut(cluster, verify("verify.4")))?._tag, "Corrupt")
    })
  )

  it.live("metadata-B88: heartbeats go on while deletions crawl, and too many are refused", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const server = yield* cluster.startServer("h1", ["d1"], {
        settings: { deletionsMax: 1, commandsWaitingMax: 3 }
      })
      const names = Array.from({ length: 6 }, (_, index) => chunkNamed(index + 1))
      for (const name of names) {
        yield* write(cluster, name, patterned(10), [target(server, "d1", name, "write")])
      }
      yield* server.disk.apply({ _tag: "SyncMillis", millis: 200 })
      const before = cluster.metadata.heartbeats.length
      for (const [index, name] of names.entries()) {
        cluster.metadata.commands.push({ _tag: "Delete", ...order(`delete.${index}`, "d1", name) })
      }
      yield* eventually(() => outcomesOf(cluster, "delete.5").length > 0)
      assert.deepInclude(outcomesOf(cluster, "delete.5")[0]?.outcome, { code: "overloaded" })
      yield* eventually(() => outcomesOf(cluster, "delete.0").length > 0)
      assert.isAbove(cluster.metadata.heartbeats.length, before + 4)
    })
  )

  it.live("a command past its deadline fails", () =>
    Effect.gen(function* () {
      const { cluster, copyOrder } = yield* twoServers
      const late = { ...copyOrder("copy.1"), deadlineMs: 0 }
      assert.deepInclude(yield* carryOut(cluster, late), { _tag: "Failed", code: "timeout" })
    })
  )
})

/** A server that is not there. */
const nowhere = { name: "h9", server: { url: "memory://h9:1" } }
