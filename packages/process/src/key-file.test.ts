import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import {
  addClusterKey,
  clusterKeysMax,
  createClusterKey,
  fingerprintOf,
  promoteClusterKey,
  readClusterKeys,
  retireClusterKeys
} from "./key-file.ts"

const folderOfKeys = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "holdfast-key-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const refusal = (file: string) => Effect.map(Effect.flip(readClusterKeys(file)), (e) => e.message)
const fingerprints = (file: string) =>
  Effect.map(readClusterKeys(file), (keys) => keys.map(fingerprintOf))

describe("the file of the cluster's keys", () => {
  it.effect("is made once, for its owner only, and read back", () =>
    Effect.gen(function* () {
      const file = join(yield* folderOfKeys, "key")
      yield* createClusterKey(file)
      const first = readFileSync(file, "utf8")
      yield* createClusterKey(file)
      assert.strictEqual(readFileSync(file, "utf8"), first)
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      const keys = yield* readClusterKeys(file)
      assert.deepStrictEqual(
        keys.map((key) => Redacted.value(key).length),
        [32]
      )
      assert.notInclude(JSON.stringify(keys), first.trim())
    })
  )

  it.effect("is refused when it is missing, malformed or readable by others", () =>
    Effect.gen(function* () {
      const folder = yield* folderOfKeys
      const file = join(folder, "key")
      assert.include(yield* refusal(file), "openssl rand -hex 32")
      writeFileSync(file, "secret", { mode: 0o600 })
      const malformed = yield* refusal(file)
      assert.include(malformed, "64 hex digits")
      assert.notInclude(malformed, "secret")
      writeFileSync(file, `${"ab".repeat(32)}\nsecret\n`)
      assert.include(yield* refusal(file), "64 hex digits")
      writeFileSync(file, `${"ab".repeat(32)}\n`.repeat(clusterKeysMax + 1))
      assert.include(yield* refusal(file), "more than")
      chmodSync(file, 0o644)
      assert.include(yield* refusal(file), "chmod 600")
      assert.include(yield* refusal(folder), "cannot be used")
    })
  )

  it.effect("is changed in steps: a key is added, promoted, and the old one retired", () =>
    Effect.gen(function* () {
      const folder = yield* folderOfKeys
      const file = join(folder, "key")
      yield* createClusterKey(file)
      const [old] = yield* fingerprints(file)
      yield* addClusterKey(file)
      const [first, added] = yield* fingerprints(file)
      assert.strictEqual(first, old)
      assert.notStrictEqual(added, old)
      yield* promoteClusterKey(file)
      assert.deepStrictEqual(yield* fingerprints(file), [added, old])
      yield* retireClusterKeys(file)
      assert.deepStrictEqual(yield* fingerprints(file), [added])
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.deepStrictEqual(readdirSync(folder), ["key"])
    })
  )

  it.effect("a step that makes no sense is refused and changes nothing", () =>
    Effect.gen(function* () {
      const file = join(yield* folderOfKeys, "key")
      yield* createClusterKey(file)
      assert.include((yield* Effect.flip(promoteClusterKey(file))).message, "add another one first")
      for (let added = 1; added < clusterKeysMax; added += 1) yield* addClusterKey(file)
      const before = yield* fingerprints(file)
      assert.include((yield* Effect.flip(addClusterKey(file))).message, "retire some")
      assert.deepStrictEqual(yield* fingerprints(file), before)
    })
  )

  it.effect("a draft that a crash has left does not stand in the way", () =>
    Effect.gen(function* () {
      const file = join(yield* folderOfKeys, "key")
      yield* createClusterKey(file)
      writeFileSync(`${file}.new`, "torn")
      yield* addClusterKey(file)
      assert.strictEqual((yield* fingerprints(file)).length, 2)
    })
  )
})
