import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { isoTime, recordJson } from "./record-json.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const record = {
  position: 17n,
  part: 0,
  timestamp: 1_767_225_600_000_000_001n,
  subject: bytes("orders.eu"),
  headers: [] as const,
  data: bytes("hello")
}

describe("records as JSON", () => {
  it("text stays text", () => {
    assert.strictEqual(
      recordJson({ shard: "orders", record: { ...record, headers: [[bytes("A"), bytes("é")]] } }),
      '{"shard":"orders","position":"17","time":"2026-01-01T00:00:00.000000001Z",' +
        '"subject":"orders.eu","headers":[["A","é"]],"data":"hello"}'
    )
  })

  it("bytes that are no text stand in base64", () => {
    const odd = Uint8Array.of(0xff, 0)
    const line = recordJson({
      shard: "orders",
      record: { ...record, part: 3, subject: odd, headers: [[bytes("A"), odd]], data: odd }
    })
    const { time: _time, ...rest } = JSON.parse(line)
    assert.deepStrictEqual(rest, {
      shard: "orders",
      position: "17",
      part: 3,
      subjectBase64: "/wA=",
      headersBase64: [["QQ==", "/wA="]],
      dataBase64: "/wA="
    })
  })

  it("any payload can be had back byte for byte", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 30 }), (data) => {
        const line = JSON.parse(recordJson({ shard: "s", record: { ...record, data } }))
        const back =
          line.dataBase64 === undefined ? bytes(line.data) : Buffer.from(line.dataBase64, "base64")
        assert.deepStrictEqual([...back], [...data])
      })
    )
  })

  it("times before 1970 are times, too", () => {
    assert.strictEqual(isoTime(-1n), "1969-12-31T23:59:59.999999999Z")
  })
})
