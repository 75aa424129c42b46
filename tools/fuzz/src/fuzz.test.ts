/** The fuzz finds what it is there to find, covers what there is, and says how to see it again. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, vi } from "vitest"
import { runInProcess } from "./in-process.ts"
import { operations } from "./live/hostile-messages.ts"
import { mutateBytes } from "./mutate-bytes.ts"
import { randomOf } from "./random.ts"
import { targets as faultyTargets } from "./testing/faulty-targets.ts"
import { targets } from "./targets/in-process-targets.ts"

const runFaulty = (only: string, { caseMsMax = 20_000, from = 0 } = {}) =>
  runInProcess({
    module: import.meta.resolve("./testing/faulty-targets.ts"),
    targets: faultyTargets,
    seed: "s",
    forMs: 60_000,
    only,
    from,
    cases: 1_000,
    caseMsMax
  })

describe("a fault", () => {
  it.each([
    ["hangs", "no end within 1500 ms", 1_500],
    ["waits", "no end within 1500 ms", 1_500],
    ["grows", "one input took 200 MiB", 20_000],
    ["overflows", "the thread died", 20_000]
  ])(
    "that %s is found",
    async (target, words, caseMsMax) => {
      const report = await runFaulty(target, { caseMsMax })
      expect(report).toMatchObject({ _tag: "Fault", target, at: 0 })
      expect(report._tag === "Fault" && report.text).toContain(words)
    },
    60_000
  )

  it("comes again at the case that is named", async () => {
    const first = await runFaulty("throws")
    if (first._tag !== "Fault") throw new Error("it found nothing")
    expect(first.text).toContain("thrown on purpose")
    expect(first.at).toBeGreaterThan(0)
    expect(await runFaulty("throws", { from: first.at })).toMatchObject({
      _tag: "Fault",
      at: first.at
    })
  }, 60_000)

  it("is not found where there is none", async () => {
    expect(await runFaulty("sound")).toEqual({ _tag: "Done", counts: [["sound", 1_000]] })
  }, 60_000)
})

describe("the cases", () => {
  it("are the same for the same seed, and others for another", () => {
    const samples = [new Uint8Array(100).fill(7), Buffer.from("another sample")]
    const made = (seed: string) =>
      Array.from({ length: 200 }, (_, at) =>
        Buffer.from(mutateBytes(samples, randomOf(`${seed}/${at}`))).toString("hex")
      )
    expect(made("a")).toEqual(made("a"))
    expect(made("a")).not.toEqual(made("b"))
    expect(new Set(made("a")).size).toBeGreaterThan(150)
  })

  it("cover every operation of the wire", () => {
    const wire = join(import.meta.dirname, "..", "..", "..", "packages", "ports", "wire", "src")
    const declared = readdirSync(wire)
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
      .flatMap((file) => [
        ...readFileSync(join(wire, file), "utf8").matchAll(/^export const \w+ = operation\(/gm)
      ])
    expect(operations.length).toBe(declared.length)
  })

  it("run for every target", async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-fuzz-test-"))
    vi.stubEnv("TMPDIR", folder)
    try {
      for (const target of targets) {
        for (let at = 0; at < 5; at += 1) await target.run(randomOf(`test/${target.name}/${at}`))
      }
    } finally {
      vi.unstubAllEnvs()
      rmSync(folder, { recursive: true, force: true })
    }
  }, 60_000)
})
