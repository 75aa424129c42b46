import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { cp, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, type Scope } from "effect"
import {
  chunkNamed,
  codeOf,
  format,
  freshDirectory,
  open,
  patterned,
  store
} from "./testing/device-fixture.ts"

const holderScript = `
import { Effect } from "effect"
import { open } from ${JSON.stringify(new URL("./testing/device-fixture.ts", import.meta.url).href)}
await Effect.runPromise(Effect.scoped(Effect.gen(function* () {
  const device = yield* open(process.argv[1])
  process.stdout.write("epoch " + device.epoch + "\\n")
  setInterval(() => undefined, 1000)
  yield* Effect.never
})))
`

/** Another process that holds the device in `directory`. */
const holder = (directory: string): Effect.Effect<ChildProcess, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const node = process.execPath
      const flags = ["--conditions=@holdfast/source", "--input-type=module", "-e", holderScript]
      const child = spawn(node, [...flags, directory], { stdio: ["ignore", "pipe", "inherit"] })
      await once(child.stdout, "data")
      return child
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

const formatted = Effect.gen(function* () {
  const directory = join(yield* freshDirectory, "d1")
  yield* format(directory)
  return directory
})

const claims = (directory: string) =>
  Effect.promise(async () =>
    (await readdir(directory)).filter((name) => /^(claim|draft)-/.test(name))
  )

describe("claims", () => {
  it.effect("each opening raises the epoch, and one claim file remains", () =>
    Effect.gen(function* () {
      const directory = yield* formatted
      for (const epoch of [1, 2, 3]) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            assert.strictEqual((yield* open(directory)).epoch, epoch)
          })
        )
        assert.deepStrictEqual(yield* claims(directory), [`claim-${epoch}`])
      }
    })
  )

  it.effect(
    "metadata-B82: a second opening is refused while the first lives, also by another path",
    () =>
      Effect.gen(function* () {
        const directory = yield* formatted
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* open(directory)
            assert.strictEqual(yield* codeOf(open(directory)), "locked")
            assert.strictEqual(yield* codeOf(open(join(directory, "..", "d1"))), "locked")
          })
        )
        assert.strictEqual((yield* open(directory)).epoch, 2)
      })
  )

  it.effect("of many openings at once exactly one holds the device", () =>
    Effect.gen(function* () {
      const directory = yield* formatted
      for (let round = 0; round < 5; round += 1) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const exits = yield* Effect.forEach(
              Array.from({ length: 8 }),
              () => Effect.exit(open(directory)),
              { concurrency: 8 }
            )
            assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
          })
        )
      }
    })
  )

  it.effect("another process holds it until kill -9, and nothing has to be cleaned up", () =>
    Effect.gen(function* () {
      const directory = yield* formatted
      const child = yield* holder(directory)
      assert.strictEqual(yield* codeOf(open(directory)), "locked")
      const gone = once(child, "exit")
      child.kill("SIGKILL")
      yield* Effect.promise(() => gone)
      assert.strictEqual((yield* open(directory)).epoch, 2)
    })
  )

  const strangers: ReadonlyArray<readonly [string, (claim: Record<string, unknown>) => void]> = [
    ["a process number that is used again", (claim) => (claim["started"] = 1)],
    ["another boot", (claim) => (claim["boot"] = "another")],
    ["no such process", (claim) => (claim["pid"] = 4_000_000)]
  ]
  for (const [name, change] of strangers) {
    it.effect(`a claim of ${name} is dead`, () =>
      Effect.gen(function* () {
        const directory = yield* formatted
        const other = yield* freshDirectory
        yield* open(directory)
        yield* Effect.promise(async () => {
          await cp(directory, other, { recursive: true })
          const claim: Record<string, unknown> = JSON.parse(
            await readFile(join(other, "claim-1"), "utf8")
          )
          change(claim)
          await writeFile(join(other, "claim-1"), JSON.stringify(claim))
        })
        assert.strictEqual((yield* open(other)).epoch, 2)
      })
    )
  }

  it.effect("a claim that was damaged counts for its number alone", () =>
    Effect.gen(function* () {
      const directory = yield* formatted
      yield* Effect.promise(() => writeFile(join(directory, "claim-41"), "torn"))
      assert.strictEqual((yield* open(directory)).epoch, 42)
    })
  )

  it.effect("metadata-W29: a holder that was superseded stores and removes nothing more", () =>
    Effect.gen(function* () {
      const directory = yield* formatted
      const first = yield* open(directory)
      yield* store(first, chunkNamed(1), patterned(10))
      yield* Effect.promise(() => writeFile(join(directory, "claim-2"), "{}"))
      const second = yield* open(directory)
      assert.deepStrictEqual([first.epoch, second.epoch], [1, 3])
      assert.strictEqual(yield* codeOf(store(first, chunkNamed(2), patterned(10))), "unavailable")
      assert.strictEqual(yield* codeOf(first.remove(chunkNamed(1))), "unavailable")
      yield* store(second, chunkNamed(2), patterned(10))
    })
  )
})
