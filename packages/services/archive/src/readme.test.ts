import { Layer } from "effect"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { expect, it } from "vitest"

it("the example of the README makes a pipeline layer", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
  const example = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? ""
  const file = new URL(`../readme-example-${process.pid}.tmp.ts`, import.meta.url)
  writeFileSync(file, example.replace('"@holdfast/service-archive"', '"./src/index.ts"'))
  try {
    const { pipeline } = await import(file.href)
    expect(Layer.isLayer(pipeline)).toBe(true)
  } finally {
    rmSync(file)
  }
})
