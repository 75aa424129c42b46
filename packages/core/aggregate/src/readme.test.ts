import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { expect, it, vi } from "vitest"

it("the example of the README runs and prints what it says", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
  const example = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? ""
  const promised = [...example.matchAll(/prints: (.*)/g)].map(([, line]) => line)
  const file = new URL(`./readme-example-${process.pid}.tmp.ts`, import.meta.url)
  writeFileSync(file, example.replace('"@holdfast/aggregate"', '"./index.ts"'))
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined)
  try {
    await import(file.href)
    expect(promised.length).toBeGreaterThan(0)
    expect(log.mock.calls.map((line) => line.join(" "))).toEqual(promised)
  } finally {
    log.mockRestore()
    rmSync(file)
  }
})
