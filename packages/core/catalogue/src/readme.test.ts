import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { expect, it, vi } from "vitest"

it("the example of the README runs and prints what it says", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
  const example = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? ""
  const promised = /prints: (.*)/.exec(example)?.[1]
  const file = new URL(`../readme-example-${process.pid}.tmp.ts`, import.meta.url)
  writeFileSync(file, example.replace('"@holdfast/catalogue"', '"./src/index.ts"'))
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined)
  try {
    await import(file.href)
    expect(log.mock.calls.map((line) => line.join(" "))).toEqual([promised])
  } finally {
    log.mockRestore()
    rmSync(file)
  }
})
