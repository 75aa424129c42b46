import { afterAll, assert, describe, it } from "@effect/vitest"
import { Journal } from "@holdfast/storage"
import { Context, Effect, Layer, Result, Stream } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { openEnvironment } from "./environment.ts"
import { temporaryDirectory } from "./testing/harm.ts"
import { fileJournal } from "./index.ts"
import { lmdbJournal } from "./lmdb-journal.ts"
import { StoreRefused } from "./store-refused.ts"

const openStore = Effect.map(
  Effect.flatMap(temporaryDirectory("commit"), (directory) =>
    openEnvironment({ directory, kind: "test" })
  ),
  (environment) => ({ environment, table: environment.table("t") })
)

describe("group commit", () => {
  it.live("makes one transaction of what fibers commit at the same time, each answered", () =>
    Effect.gen(function* () {
      const { environment, table } = yield* openStore
      yield* environment.commit({ bytes: 1, run: () => 0 })
      const before = yield* environment.transactions
      const numbers = Array.from({ length: 500 }, (_, index) => index)
      const answers = yield* Effect.forEach(
        numbers,
        (number) =>
          environment.commit({
            bytes: 10,
            run: () => {
              table.putSync(Buffer.from(`${number}`), Buffer.of(1))
              return number
            }
          }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers, numbers)
      assert.strictEqual(table.getKeysCount({}), 500)
      assert.isAtMost((yield* environment.transactions) - before, 5)
    })
  )

  it.live("lets a job that fails fail alone, and undoes what it wrote", () =>
    Effect.gen(function* () {
      const { environment, table } = yield* openStore
      const put = (name: string, then: () => void) =>
        environment.commit({
          bytes: 10,
          run: () => {
            table.putSync(Buffer.from(name), Buffer.of(1))
            then()
            return name
          }
        })
      const refusal = new StoreRefused({ code: "too-large", message: "no" })
      const results = yield* Effect.all(
        [
          Effect.result(put("a", () => undefined)),
          Effect.result(
            put("b", () => {
              throw refusal
            })
          ),
          Effect.exit(
            put("c", () => {
              throw new TypeError("a defect")
            })
          ),
          Effect.result(put("d", () => undefined))
        ],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(results[0], Result.succeed("a"))
      assert.deepStrictEqual(results[1], Result.fail(refusal))
      assert.strictEqual(results[2]._tag, "Failure")
      assert.deepStrictEqual(results[3], Result.succeed("d"))
      const keys = Array.from(table.getKeys({}), (key) => key.toString())
      assert.deepStrictEqual(keys, ["a", "d"])
    })
  )

  it.live("a job sees what the jobs before it wrote, in the same transaction too", () =>
    Effect.gen(function* () {
      const { environment, table } = yield* openStore
      const key = Buffer.from("counter")
      const increment = environment.commit({
        bytes: 10,
        run: () => {
          const count = (table.get(key)?.readUInt32BE(0) ?? 0) + 1
          const value = Buffer.alloc(4)
          value.writeUInt32BE(count)
          table.putSync(key, value)
          return count
        }
      })
      const counts = yield* Effect.all(
        Array.from({ length: 50 }, () => increment),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        counts,
        counts.map((_, index) => index + 1)
      )
    })
  )

  it.live("refuses what comes after the store was closed", () =>
    Effect.gen(function* () {
      const { environment } = yield* Effect.scoped(openStore)
      const error = yield* Effect.flip(environment.commit({ bytes: 1, run: () => 0 }))
      assert.strictEqual(error.code, "unavailable")
    })
  )
})

describe("the identity of a store", () => {
  it.live("another kind's or another cluster's store is refused and left as it is", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory("identity")
      const open = (kind: string, clusterId: string) =>
        Effect.scoped(openEnvironment({ directory, kind, clusterId }))
      yield* open("journal", "north")
      const kind = yield* Effect.flip(open("spool", "north"))
      const cluster = yield* Effect.flip(open("journal", "south"))
      assert.deepStrictEqual([kind.code, cluster.code], ["foreign", "foreign"])
      assert.include(cluster.message, `belongs to cluster "north"`)
      yield* open("journal", "north")
    })
  )
})

const hasStrace = spawnSync("strace", ["-V"]).status === 0

/** What a process that appends five times did, as its system calls tell it. */
const tracedAppends = (kind: "log" | "lmdb"): ReadonlyArray<string> => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-trace-"))
  try {
    const script = fileURLToPath(new URL("testing/appending-process.ts", import.meta.url))
    const trace = join(directory, "trace")
    const calls = "trace=fdatasync,fsync,msync,openat,pwrite64,write"
    const node = [process.execPath, "--conditions=@holdfast/source", script, kind]
    const store = join(directory, "store")
    execFileSync("strace", ["-f", "-e", calls, "-o", trace, ...node, "append", store, "5", "1"])
    return execFileSync("grep", ["-E", "fdatasync|O_DSYNC|pwrite64|write\\(1,", trace], {
      encoding: "utf8"
    }).split("\n")
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const saidIn = (line: string): ReadonlyArray<string> => {
  const said = /write\(1, "(\d+)\\n"/.exec(line)?.[1]
  return said === undefined ? [] : [`said ${said}`]
}

describe.skipIf(!hasStrace)("a sync comes before the answer (needs strace)", () => {
  const expectBeforeEach = (events: ReadonlyArray<string>, before: ReadonlyArray<string>) => {
    for (const number of [1, 2, 3, 4, 5]) {
      const index = events.indexOf(`said ${number}`)
      assert.deepStrictEqual(events.slice(index - before.length, index), before, events.join(" "))
    }
  }

  it("log: each append is said only after its batch was written and synced", () => {
    const events = tracedAppends("log").flatMap((line) => {
      if (/fdatasync(\(\d+\)| resumed>\))\s+= 0/.test(line)) return ["synced"]
      if (/pwrite64\(\d+, "HJ/.test(line)) return ["written"]
      return saidIn(line)
    })
    expectBeforeEach(events, ["written", "synced"])
  })

  it("LMDB: each append is said only after the pages and the head were synced", () => {
    const lines = tracedAppends("lmdb")
    const opening = lines.find((line) => /O_DSYNC/.test(line)) ?? ""
    const synced = /O_DSYNC.* = (\d+)$/.exec(opening)?.[1]
    assert.isDefined(synced)
    const events = lines.flatMap((line) => {
      if (/fdatasync\(\d+\)\s+= 0/.test(line)) return ["pages"]
      if (new RegExp(`pwrite64\\(${synced},`).test(line)) return ["head"]
      return saidIn(line)
    })
    expectBeforeEach(events, ["pages", "head"])
  })
})

/** A file system of 24 MB in memory, or the reason why there is none. */
const mountSmallDisk = (): { readonly directory: string } | { readonly reason: string } => {
  if (process.getuid?.() !== 0) return { reason: "only root may mount" }
  const directory = mkdtempSync(join(tmpdir(), "holdfast-full-"))
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", directory])
  return mounted.status === 0 ? { directory } : { reason: "mounting is not allowed here" }
}

const smallDisk = mountSmallDisk()

afterAll(() => {
  if ("reason" in smallDisk) return
  spawnSync("umount", [smallDisk.directory])
  rmSync(smallDisk.directory, { recursive: true, force: true })
})

const journals = [
  ["log", fileJournal],
  ["LMDB", lmdbJournal]
] as const

describe.each(journals)("a disk that is full, %s", (name, journalIn) => {
  it.live.skipIf("reason" in smallDisk)(
    `peer-B13: is a typed refusal, what was there is read, and it goes on when there is room${
      "reason" in smallDisk ? ` (${smallDisk.reason})` : ""
    }`,
    () =>
      Effect.gen(function* () {
        if ("reason" in smallDisk) return
        const directory = join(smallDisk.directory, name)
        mkdirSync(directory)
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
        )
        const ballast = join(directory, "ballast")
        writeFileSync(ballast, new Uint8Array(8_000_000))
        mkdirSync(join(directory, "store"))
        // Less than no reserve: the journal is let run into the end of the disk.
        const options = { directory: join(directory, "store"), reserveBytes: -1e9 }
        yield* Effect.scoped(
          Effect.gen(function* () {
            const journal = Context.get(yield* Layer.build(journalIn(options)), Journal)
            const entry = new Uint8Array(100_000).fill(7)
            let kept = 0
            let refusal: string | undefined
            while (refusal === undefined && kept < 1_000) {
              const result = yield* Effect.result(journal.append([entry]))
              if (Result.isFailure(result)) refusal = result.failure.code
              else kept += 1
            }
            assert.strictEqual(refusal, "full")
            const again = yield* Effect.flip(journal.append([entry, entry, entry]))
            assert.strictEqual(again.code, "full")
            const count = Effect.flatMap(journal.recover, ({ entries }) => Stream.runCount(entries))
            assert.strictEqual(yield* count, kept)
            rmSync(ballast)
            yield* journal.append([entry])
            assert.strictEqual(yield* count, kept + 1)
          })
        )
      })
  )
})
