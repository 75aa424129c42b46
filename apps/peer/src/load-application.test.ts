import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { loadApplications } from "./load-application.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-applications-"))
afterAll(() => rmSync(folder, { recursive: true }))

const moduleOf = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe("the applications that a peer is told to host", () => {
  it("are those that are shipped, by their names", async () => {
    const loaded = await Effect.runPromise(loadApplications(["counter", "registers"]))
    assert.deepStrictEqual(
      loaded.map(({ name }) => name),
      ["counter", "registers"]
    )
  })

  it.each([
    {
      name: "no such file",
      named: () => ["./nowhere.ts"],
      sentence: /there is no application ".\/nowhere.ts"; right would be counter, registers, or/
    },
    {
      name: "a module that throws",
      named: () => [moduleOf("throws.mjs", 'throw new Error("not today")\n')],
      sentence: /throws.mjs cannot be loaded as a module: not today; right would be/
    },
    {
      name: "a module that exports none",
      named: () => [moduleOf("empty.mjs", "export const application = 1\n")],
      sentence: /empty.mjs/
    },
    {
      name: "two of one name",
      named: () => ["counter", "counter"],
      sentence: /two applications are called counter/
    }
  ])("are refused with a sentence where there is $name", async ({ named, sentence }) => {
    const refusal = await Effect.runPromise(Effect.flip(loadApplications(named())))
    assert.match(refusal.message, sentence)
  })
})
