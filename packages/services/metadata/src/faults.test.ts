import { assert, describe, it } from "@effect/vitest"
import { defaultSettings, emptyState, openDraft, type Draft } from "@holdfast/chunk-map"
import { MetadataOperations } from "@holdfast/wire"
import { Effect, Exit, Fiber } from "effect"
import { runBatch, runWithoutJournal, type Command } from "./batch.ts"
import { internal } from "./refusals.ts"
import { ask, makePuppet, makeWorld, ready, write } from "./testing/world.ts"

const { createFile, locate, status, free, alloc, safeMode } = MetadataOperations

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "no code"

const running = Effect.fnUntraced(function* (options: { readonly capacity?: number } = {}) {
  const world = yield* makeWorld(options)
  const service = yield* world.start()
  const puppets = ["a", "b"].map(makePuppet)
  const use = Effect.provide(world.client)
  for (const puppet of puppets) yield* use(puppet.join())
  yield* use(ready)
  return { ...world, service, puppets, use }
})

describe("the journal fails", () => {
  it.live("metadata-B61: a full disk refuses what needs it, changes nothing, and passes", () =>
    Effect.gen(function* () {
      const { puppets, use, service, disk, start } = yield* running()
      yield* use(
        Effect.gen(function* () {
          const { fileId } = yield* ask(createFile, {})
          const { chunk } = yield* write(puppets, fileId)
          const before = service.state().chunks
          yield* disk.apply({ _tag: "Capacity", bytes: 0 })
          assert.strictEqual(codeOf(yield* Effect.flip(write(puppets, fileId))), "journal-full")
          const refused = yield* Effect.flip(ask(free, { chunks: [chunk] }))
          assert.strictEqual(codeOf(refused), "journal-full")
          assert.strictEqual(service.state().chunks, before)
          assert.isFalse(service.canWrite())
          assert.strictEqual((yield* ask(locate, chunk)).holders.length, 2)
          assert.deepStrictEqual((yield* puppets[0]!.beat()).refused, [])
          yield* disk.apply({ _tag: "Capacity", bytes: 1_000_000_000 })
          yield* write(puppets, fileId)
          assert.isTrue(service.canWrite())
          assert.strictEqual(service.state().chunks.size, 2)
        })
      )
      yield* service.stop
      assert.strictEqual((yield* start()).state().chunks.size, 2)
    })
  )

  it.live("metadata-W39: what the journal did not take is told to no device", () =>
    Effect.gen(function* () {
      const { puppets, use, disk } = yield* running()
      yield* use(
        Effect.gen(function* () {
          const { fileId } = yield* ask(createFile, {})
          const { chunk } = yield* write(puppets, fileId)
          yield* disk.apply({ _tag: "Capacity", bytes: 0 })
          const both = { concurrency: "unbounded" } as const
          const [refused, ...replies] = yield* Effect.all(
            [Effect.flip(ask(free, { chunks: [chunk] })), puppets[0]!.beat(), puppets[1]!.beat()],
            both
          )
          assert.strictEqual(codeOf(refused), "journal-full")
          for (const { commands } of replies) assert.deepStrictEqual(commands, [])
          assert.deepStrictEqual((yield* puppets[0]!.beat()).commands, [])
          assert.strictEqual((yield* ask(locate, chunk)).holders.length, 2)
          yield* disk.apply({ _tag: "Capacity", bytes: 1_000_000_000 })
          yield* ask(free, { chunks: [chunk] })
          const [told] = (yield* puppets[0]!.beat()).commands
          assert.strictEqual(told?._tag, "Delete")
        })
      )
    })
  )

  it.live("metadata-B58: with a full disk it starts, hears its devices and answers", () =>
    Effect.gen(function* () {
      const { puppets, use, service, disk, start } = yield* running()
      const chunk = yield* use(
        Effect.gen(function* () {
          const { fileId } = yield* ask(createFile, {})
          return (yield* write(puppets, fileId)).chunk
        })
      )
      yield* service.stop
      yield* disk.apply({ _tag: "Capacity", bytes: 0 })
      yield* start()
      yield* use(
        Effect.gen(function* () {
          for (const puppet of puppets) yield* puppet.join()
          yield* ready
          assert.strictEqual((yield* ask(locate, chunk)).holders.length, 2)
        })
      )
    })
  )

  it.live("metadata-I15: what was answered survives a crash with unsynced writes lost", () =>
    Effect.gen(function* () {
      const { puppets, use, service, disk, start } = yield* running()
      const chunks = yield* use(
        Effect.gen(function* () {
          const { fileId } = yield* ask(createFile, {})
          return yield* Effect.forEach(
            Array.from({ length: 50 }, (_one, index) => index),
            () => Effect.map(write(puppets, fileId), ({ chunk }) => chunk),
            { concurrency: 16 }
          )
        })
      )
      yield* disk.apply({ _tag: "Crash" })
      yield* service.stop
      const again = yield* start()
      assert.strictEqual(again.state().chunks.size, chunks.length)
    })
  )

  it.live("metadata-T8: a damaged journal is named at the start, never skipped", () =>
    Effect.gen(function* () {
      const { puppets, use, service, disk, start } = yield* running()
      yield* use(
        Effect.gen(function* () {
          const { fileId } = yield* ask(createFile, {})
          for (let index = 0; index < 5; index++) yield* write(puppets, fileId)
        })
      )
      yield* service.stop
      const key = "a/0000000000000001"
      yield* disk.apply({ _tag: "FlipBit", file: "journal", key, byte: 12, bit: 3 })
      const failed = yield* Effect.exit(start())
      assert.isTrue(Exit.isFailure(failed))
    })
  )
})

describe("snapshots", () => {
  it.live("metadata-W25: a snapshot replaces the log, and appends beside it are kept", () =>
    Effect.gen(function* () {
      const { puppets, use, service, start } = yield* running()
      yield* service.stop
      const compacting = yield* start({ service: { compactBytes: 2_000 } })
      yield* use(
        Effect.gen(function* () {
          for (const puppet of puppets) yield* puppet.join()
          yield* ready
          const { fileId } = yield* ask(createFile, {})
          const written = yield* Effect.forEach(
            Array.from({ length: 300 }, (_one, index) => index),
            () => Effect.map(write(puppets, fileId), ({ chunk }) => chunk),
            { concurrency: 20 }
          )
          yield* ask(free, { chunks: written.slice(0, 10) })
        })
      )
      assert.strictEqual(compacting.state().chunks.size, 290)
      yield* compacting.stop
      const again = yield* start()
      assert.strictEqual(again.state().chunks.size, 290)
      assert.strictEqual(again.state().freed.size, compacting.state().freed.size)
      assert.strictEqual(again.state().versionLimit, compacting.state().versionLimit)
    })
  )
})

describe("commands and the loop", () => {
  const named = (name: string, log: Array<string>, body: (draft: Draft) => void): Command => ({
    run: body,
    settle: () => log.push(`${name} settled`),
    fail: (error) => log.push(`${name} ${error.code}`)
  })

  it("a command that dies is undone; the others run again without it", () => {
    const state = emptyState(defaultSettings)
    const log: Array<string> = []
    const allot = named("allot", log, (draft) => {
      draft.scalars.nextFileId++
    })
    const dies = named("dies", log, (draft) => {
      draft.scalars.nextFileId += 100
      throw new Error("broken")
    })
    const { sealed, settled, failed } = runBatch(state, { now: 5, canWrite: true }, [
      allot,
      dies,
      allot
    ])
    for (const command of settled) command.settle()
    for (const [command, error] of failed) command.fail(error)
    assert.strictEqual(sealed.state.nextFileId, state.nextFileId + 2)
    assert.deepStrictEqual(log, ["allot settled", "allot settled", "dies internal"])
  })

  it("without a journal, only what needs none is done", () => {
    const state = emptyState(defaultSettings)
    const log: Array<string> = []
    const reads = named("reads", log, (draft) => void draft.chunks.size)
    const writes = named("writes", log, (draft) => {
      draft.scalars.nextFileId++
      draft.journal.push({ _tag: "Marks", fileIdLimit: 9, versionLimit: 9 })
    })
    const outcome = runWithoutJournal(state, 5, [reads, writes, reads], internal("full"))
    assert.strictEqual(outcome.sealed.state.nextFileId, state.nextFileId)
    assert.deepStrictEqual(
      [outcome.settled.length, outcome.failed.map(([command]) => command)],
      [2, [writes]]
    )
    assert.strictEqual(openDraft(outcome.sealed.state, 5).journal.length, 0)
  })

  it.live("metadata-W44, metadata-B86: a full queue is answered at once, and the loop lives", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      yield* world.start({ service: { waitingMax: 8, tickMs: 1_000 } })
      const use = Effect.provide(world.client)
      const answers = yield* use(
        Effect.forEach(
          Array.from({ length: 300 }, (_one, index) => index),
          () => Effect.exit(ask(createFile, {})),
          { concurrency: "unbounded" }
        )
      )
      const failures = answers.flatMap((exit) => (Exit.isFailure(exit) ? [exit.cause] : []))
      assert.isAbove(failures.length, 0)
      assert.isBelow(failures.length, 300)
      yield* use(ask(createFile, {}))
    })
  )

  it.live("stopping answers what waits, and a request after it is not lost in silence", () =>
    Effect.gen(function* () {
      const { puppets, use, service, start } = yield* running()
      const { fileId } = yield* use(ask(createFile, {}))
      const writing = yield* use(
        Effect.forEach(
          Array.from({ length: 60 }, (_one, index) => index),
          () => Effect.exit(write(puppets, fileId)),
          { concurrency: "unbounded" }
        )
      ).pipe(Effect.forkChild)
      yield* Effect.sleep(5)
      yield* service.stop
      const exits = yield* Fiber.join(writing)
      const published = exits.filter(Exit.isSuccess).length
      const again = yield* start()
      assert.isAtLeast(again.state().chunks.size, published)
    })
  )

  it.live("safe mode by hand refuses allocation with a time to come back", () =>
    Effect.gen(function* () {
      const { use } = yield* running()
      yield* use(
        Effect.gen(function* () {
          const { fileId } = yield* ask(createFile, {})
          yield* ask(safeMode, { action: "enter" })
          const request = { fileId, size: 1, want: 1, min: 1, exclude: [] }
          const error = yield* Effect.flip(ask(alloc, request))
          assert.strictEqual(codeOf(error), "not-ready")
          assert.strictEqual((yield* ask(status, {})).safeMode.phase, "manual")
          yield* ask(safeMode, { action: "leave" })
          yield* ask(alloc, request)
        })
      )
    })
  )
})
