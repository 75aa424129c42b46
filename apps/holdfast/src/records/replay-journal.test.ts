import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openReplayJournal } from "./replay-journal.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "holdfast-journal-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)
const stream = "again/and again"

describe("the journal of a replay into the spool", () => {
  it.effect("holds the last intent, bytes and all, through any number of openings", () =>
    Effect.gen(function* () {
      const data = yield* folder
      const intent = (count: number) => ({
        appendId: `id-${count}`,
        newest: [["shard\n", `holdfast.x.${count}`]] as const,
        attachment: Uint8Array.of(10, 0, 255, count)
      })
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const journal = yield* openReplayJournal({ data, stream })
          yield* journal.intend(intent(1))
          yield* journal.intend(intent(2))
          return journal.last
        })
      )
      assert.isTrue(Option.isNone(first))
      for (let opening = 0; opening < 2; opening++) {
        const { last } = yield* Effect.scoped(openReplayJournal({ data, stream }))
        const { appendId, attachment, newest } = Option.getOrThrow(last)
        const { attachment: bytes, ...head } = intent(2)
        assert.deepStrictEqual({ appendId, newest }, head)
        assert.deepStrictEqual([...attachment], [...bytes])
      }
      const other = yield* openReplayJournal({ data, stream: "other" })
      assert.isTrue(Option.isNone(other.last))
    })
  )

  it.effect("that is damaged, or another process's, is refused with a sentence", () =>
    Effect.gen(function* () {
      const data = yield* folder
      const path = join(data, "replays", "a", "last-intent")
      mkdirSync(join(data, "replays", "a"), { recursive: true })
      writeFileSync(path, "no journal")
      const damaged = yield* Effect.flip(Effect.scoped(openReplayJournal({ data, stream: "a" })))
      assert.include(damaged.message, "remove it to begin them anew")
      rmSync(path)
      const second = yield* openReplayJournal({ data, stream: "a" }).pipe(
        Effect.andThen(Effect.flip(openReplayJournal({ data, stream: "a" }))),
        Effect.scoped
      )
      assert.include(second.message, "another process replays into a; wait until it is done")
      yield* openReplayJournal({ data, stream: "a" })
    })
  )

  it.effect("that cannot be kept is refused before anything is sent", () =>
    Effect.gen(function* () {
      const data = yield* folder
      writeFileSync(join(data, "replays"), "a file, not a folder")
      const refused = yield* Effect.flip(openReplayJournal({ data, stream: "a" }))
      assert.include(refused.message, "the progress of the replay cannot be kept")
    })
  )
})
