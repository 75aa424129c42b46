import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { expect, it } from "vitest"

it("the example of the README runs", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
  const example = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? ""
  expect(example.length).toBeGreaterThan(1_000)
  const file = new URL(`./readme-example-${process.pid}.tmp.ts`, import.meta.url)
  writeFileSync(file, example.replace('"@holdfast/service-metadata"', '"./index.ts"'))
  try {
    await expect(import(file.href)).resolves.toBeDefined()
  } finally {
    rmSync(file)
  }
})
