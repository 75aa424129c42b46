import { readFileSync } from "node:fs"
import { describeReadmeExample } from "@holdfast/suites"
import { describe, expect, it } from "vitest"

describeReadmeExample(import.meta.url)

describe("the READMEs", () => {
  it("metadata-B72: say what is durable when, here and where the bytes are", () => {
    const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
    const own = read("../README.md").replaceAll(/\s+/g, " ")
    expect(own).toContain("An answer leaves after what it promises is durable.")
    expect(own).toContain("**What is durable.** Committed chunks")
    const bytes = read("../../chunk-server/README.md").replaceAll(/\s+/g, " ")
    expect(bytes).toContain("A receipt or an outcome leaves only when what it says is durable.")
  })
})
