import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, it, vi } from "vitest"
import { figuresOf } from "./figures.ts"

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

it("a figure is a line for people and a row for programs, with its bar and whether it is met", () => {
  const folder = mkdtempSync(join(tmpdir(), "figures-"))
  const file = join(folder, "rows")
  vi.stubEnv("HOLDFAST_BENCH_ROWS", file)
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true)
  const say = figuresOf("disposition")
  say({ what: "rate", value: 1_234_567.8, unit: "a second", bar: { atLeast: 1_000_000 } })
  say({ what: "memory", value: 65.432, unit: "bytes", bar: { atMost: 64 } })
  say({ what: "baseline", value: 0.012345, unit: "ms" })
  const rows = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
  rmSync(folder, { recursive: true })
  const part = "disposition"
  expect(rows).toEqual([
    { part, what: "rate", value: 1234568, unit: "a second", bar: "at least 1000000", met: true },
    { part, what: "memory", value: 65.4, unit: "bytes", bar: "at most 64", met: false },
    { part, what: "baseline", value: 0.0123, unit: "ms", bar: null, met: null }
  ])
  expect(written.mock.calls[0]?.[0]).toMatch(
    /^rate +1,234,568 a second \(at least 1000000: met\)\n$/
  )
})
