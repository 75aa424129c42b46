import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, it, vi } from "vitest"

it("the example of the README runs and prints what it says", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8")
  const block = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? ""
  const source = block
    .replace("@holdfast/service-worker", new URL("./index.ts", import.meta.url).href)
    .replace("@holdfast/adapter-memory", import.meta.resolve("@holdfast/adapter-memory"))
    .replace('from "effect"', `from ${JSON.stringify(import.meta.resolve("effect"))}`)
  const directory = await mkdtemp(join(tmpdir(), "worker-"))
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined)
  try {
    const file = join(directory, "example.ts")
    await writeFile(file, source)
    await import(/* @vite-ignore */ pathToFileURL(file).href)
    expect(log).toHaveBeenCalledWith(15, 3n)
  } finally {
    log.mockRestore()
    await rm(directory, { recursive: true })
  }
})
