import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, it, vi } from "vitest"

it("the example of the README runs and prints what it says", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8")
  const block = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? ""
  const source = block
    .replace("@holdfast/service-peer", new URL("./index.ts", import.meta.url).href)
    .replaceAll(/from "(effect|@holdfast\/[a-z-]+)"/g, (_, name: string) => {
      return `from ${JSON.stringify(import.meta.resolve(name))}`
    })
  const directory = await mkdtemp(join(tmpdir(), "service-peer-"))
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined)
  try {
    const file = join(directory, "example.ts")
    await writeFile(file, source)
    await import(/* @vite-ignore */ pathToFileURL(file).href)
    expect(log.mock.calls).toContainEqual([[10, 7]])
  } finally {
    log.mockRestore()
    await rm(directory, { recursive: true })
  }
})
