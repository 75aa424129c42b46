import { assert, describe, it } from "@effect/vitest"
import type { Application } from "@holdfast/power-state"
import { Result, Schema } from "effect"
import { applicationOf, defineApplication } from "./application-module.ts"
import { counter, registers } from "@holdfast/applications"

const load = (exports: unknown): string =>
  Result.match(applicationOf(exports, "mine.ts"), {
    onFailure: ({ code, message }) => `${code}: ${message}`,
    onSuccess: ({ name, version }) => `${name} ${version}`
  })

const changed = (more: Partial<Application<{ readonly add: number }, number, number>>) =>
  load({ default: defineApplication({ ...counter, ...more }) })

describe("an application as a module", () => {
  it("is loaded by its default export", () => {
    assert.strictEqual(load({ default: defineApplication(counter) }), "counter 1")
    assert.strictEqual(load({ default: defineApplication(registers) }), "registers 1")
  })

  it("is refused with a sentence when it is none, or ill-formed", () => {
    assert.include(
      load({}),
      "ill-formed: mine.ts exports no application (it has no default export)"
    )
    assert.include(load({ default: counter }), "is something else, or of another version")
    assert.include(load(null), "right would be `export default defineApplication(")
    assert.include(changed({ name: "My App" }), '"My App" is no name of an application')
    assert.include(changed({ name: "cluster" }), "no application may be called cluster")
    assert.include(changed({ version: 0 }), "its version is 0")
    assert.include(changed({ initial: 0.5 }), "its initial state is not of its State")
    assert.include(changed({ State: Schema.Int, index: () => [new Uint8Array(513)] }), "no tag")
    const throwing = () => {
      throw new Error("no index")
    }
    assert.include(changed({ index: throwing }), "its index throws for the initial state")
  })
})
