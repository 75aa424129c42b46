import { assert, describe, it } from "@effect/vitest"
import { ClusterId, WorkerId } from "@holdfast/wire"
import { Result, Schema } from "effect"
import { partitionKeyOf } from "./projection.ts"
import { projectionModule, projectionOf, ProjectionSettings } from "./projection-module.ts"

const encoder = new TextEncoder()
const context = { cluster: ClusterId.make("c1"), worker: WorkerId.make("w1"), group: "totals" }

const refusalOf = (options: unknown): string => {
  const prepared = projectionModule.prepare(options, context)
  return Result.isFailure(prepared) ? prepared.failure.message : "accepted"
}

const project = (settings: object, payload: string) =>
  projectionOf(Schema.decodeUnknownSync(ProjectionSettings)({ application: "stock", ...settings }))(
    {
      position: 7n,
      timestamp: 0n,
      subject: encoder.encode("orders.eu.new"),
      headers: [[encoder.encode("Item"), encoder.encode("pear")]],
      data: encoder.encode(payload)
    }
  )

describe("the settings of a projection", () => {
  it.each([
    ["subject", "orders.eu.new"],
    ["subject:1", "eu"],
    ["header:Item", "pear"],
    ["json:item.name", "apple"]
  ])("name the partition by %s", (key, name) => {
    const payload = '{"item":{"name":"apple"},"amount":3}'
    assert.deepStrictEqual(project({ key }, payload), [
      { key: partitionKeyOf("stock", name), event: { item: { name: "apple" }, amount: 3 } }
    ])
  })

  it("say what a record without a key means", () => {
    assert.deepStrictEqual(project({ key: "json:item", withoutKey: "skip" }, "{}"), [])
    assert.throws(() => project({ key: "json:item" }, "{}"), /nothing at "json:item"/)
  })

  it.each([
    [{ application: "stock", key: "subject" }, /^accepted$/],
    [{ application: "stock", kye: "subject" }, /no option "kye"; did you mean "key"\?/],
    [{ application: "stock", key: "body" }, /"json:order.id"/],
    [{ application: "No spaces", key: "subject" }, /application/],
    [{ application: "stock", key: "subject", unconfirmedMax: 0 }, /unconfirmedMax/],
    ["subject", /the options of the pipeline "projection" are wrong/]
  ])("%j are answered with a sentence", (options, sentence) => {
    assert.match(refusalOf(options), sentence)
    assert.notInclude(refusalOf(options), "\n")
  })
})
