import { execFileSync } from "node:child_process"
import { tmpdir } from "node:os"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { profiles } from "./profile.ts"
import { run } from "./run.ts"

const program = fileURLToPath(new URL("testing/print-digests.ts", import.meta.url))
const seed = "7"

/** One run of each profile as a process of its own sees it, with hashes and chance of its own. */
const runsIn = (surroundings: {
  readonly v8Seed: number
  readonly timeZone: string
  readonly directory: string
}): unknown => {
  const { directory, timeZone, v8Seed } = surroundings
  const flags = [`--random-seed=${v8Seed}`, `--hash-seed=${v8Seed}`]
  const text = execFileSync(
    process.execPath,
    ["--conditions=@holdfast/source", ...flags, program, seed],
    { encoding: "utf8", cwd: directory, env: { ...process.env, TZ: timeZone, LANG: "C" } }
  )
  return JSON.parse(text)
}

describe("a run", () => {
  it("of each profile is the same in two processes, event by event", { timeout: 300_000 }, () => {
    const first = runsIn({ v8Seed: 1, timeZone: "UTC", directory: process.cwd() })
    const second = runsIn({ v8Seed: 77, timeZone: "Asia/Tokyo", directory: tmpdir() })
    assert.deepStrictEqual(second, first)
    assert.lengthOf(Array.isArray(first) ? first : [], profiles.length)
  })

  it("is the same a second time in one process, and another for another seed", () => {
    const profile = profiles.find(({ name }) => name === "chunks")
    if (profile === undefined) throw new Error("there is no such profile")
    const [first, second, other] = [
      run({ seed: 1, profile }),
      run({ seed: 1, profile }),
      run({ seed: 2, profile })
    ]
    assert.deepStrictEqual(second, first)
    assert.isAbove(first.events, 1_000)
    assert.notStrictEqual(other.traceDigest, first.traceDigest)
  }, 120_000)
})
