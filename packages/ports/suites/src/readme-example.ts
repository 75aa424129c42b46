/**
 * A README's example as a test: it is run as it stands, and prints what its comments say.
 *
 * 1. What follows `prints:` in a comment is a line that the example prints, in that order.
 * 2. An example without such a comment checks itself with assertions.
 * 3. What it leaves in the temporary folder goes with the test.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { env } from "node:process"
import { format } from "node:util"
import { assert, it, vi } from "@effect/vitest"

/** The first TypeScript block of the README above a test's folder. */
const exampleAbove = (test: string): string => {
  const readme = readFileSync(new URL("../README.md", test), "utf8")
  const example = /```ts\n([^]*?)```/.exec(readme)?.[1]
  return example ?? assert.fail("the README has no example")
}

/** Loads the example as a module of the package, so that it imports the package by its name. */
export const loadReadmeExample = async (test: string): Promise<unknown> => {
  const file = new URL(`../readme-example-${process.pid}.tmp.ts`, test)
  writeFileSync(file, exampleAbove(test))
  try {
    return await import(/* @vite-ignore */ file.href)
  } finally {
    rmSync(file)
  }
}

/** Runs the example of the README above the folder of a test, named by its `import.meta.url`. */
export const describeReadmeExample = (test: string): void => {
  it("the example of the README runs and prints what it says", async () => {
    const example = exampleAbove(test)
    const promised = [...example.matchAll(/prints: (.*)/g)].map(([, line]) => line)
    const outside = env["TMPDIR"]
    const folder = mkdtempSync(join(tmpdir(), "readme-"))
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined)
    env["TMPDIR"] = folder
    try {
      await loadReadmeExample(test)
      const printed = log.mock.calls.map((words) => format(...words))
      if (promised.length === 0) assert.include(example, "assert")
      else assert.deepStrictEqual(printed, promised)
    } finally {
      log.mockRestore()
      if (outside === undefined) delete env["TMPDIR"]
      else env["TMPDIR"] = outside
      rmSync(folder, { recursive: true, force: true })
    }
  })
}
