import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { answerSubject, makeDeliveryReader, replyPrefix } from "./delivery-info.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const count = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const nanos = fc.bigInt({ min: 10n ** 18n, max: 4n * 10n ** 18n })

describe("a delivery's reply subject", () => {
  for (const [form, before, after] of [
    ["short", "$JS.ACK.orders.holdfast-x", ""],
    ["with a domain", "$JS.ACK.hub.AC12.orders.holdfast-x", ""],
    ["with a domain and more", "$JS.ACK._.AC12.orders.holdfast-x", ".Zq8"]
  ] as const) {
    it(`${form} tells position, order, time and what is pending`, () => {
      const read = makeDeliveryReader()
      fc.assert(
        fc.property(count, count, count, nanos, count, (...numbers) => {
          const [deliveries, position, order, timestamp, pending] = numbers
          const reply = bytes(`${before}.${numbers.join(".")}${after}`)
          const info = { deliveries, position, order, timestamp, pending }
          assert.deepStrictEqual(read(reply), info)
          const answered = `${before}.${deliveries}.${position}.${order}.0.0`
          assert.strictEqual(answerSubject(replyPrefix(reply), info), answered)
        })
      )
    })
  }

  it("of anything else is no delivery", () => {
    for (const reply of ["", "_INBOX.abc", "$JS.ACK.a.b.1.2.3", "$JS.API.a.b.1.2.3.4.5"]) {
      assert.isUndefined(makeDeliveryReader()(bytes(reply)), reply)
    }
  })
})
