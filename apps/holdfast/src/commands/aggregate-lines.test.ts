import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import { recordBytes } from "./aggregate-bytes.ts"
import { aggregateOfLines, formatNames, linesOfAggregate } from "./aggregate-lines.ts"

const decoded = (bytes: Uint8Array) =>
  Result.getOrThrow(linesOfAggregate(bytes, { opensPrivateFormats: true }))

const refusal = (result: Result.Result<unknown, { readonly message: string }>): string =>
  Result.isFailure(result) ? result.failure.message : assert.fail("it was taken")

const encodeFailure = (text: string): string =>
  refusal(aggregateOfLines(text, { format: "standard" }))

const text = fc.string({ unit: "grapheme", maxLength: 20 })
const line = fc
  .record({
    partitionKey: fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
    explicitHashKey: fc.option(fc.bigInt(0n, 2n ** 128n - 1n).map(String)),
    data: text
  })
  .map((value) => JSON.stringify(value))

describe("aggregated records as lines", () => {
  it("come back as they were, in every format, binary or in base64", () => {
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 12 }),
        fc.constantFrom(...formatNames),
        (lines, format) => {
          const bytes = Result.getOrThrow(aggregateOfLines(lines.join("\n"), { format }))
          assert.deepStrictEqual(decoded(recordBytes(bytes)), lines)
          const wrapped = Buffer.from(bytes).toString("base64").replaceAll(/.{76}/g, "$&\n")
          assert.deepStrictEqual(decoded(recordBytes(Buffer.from(`${wrapped}\n`))), lines)
        }
      )
    )
  })

  it("keep bytes that are no text, and tags", () => {
    const lines =
      '{"partitionKey":"a","explicitHashKey":null,"dataBase64":"/w==",' +
      '"tags":[{"key":"k","value":"v"}]}\n' +
      '{"partitionKey":"a","explicitHashKey":null,"data":""}\n'
    const bytes = Result.getOrThrow(aggregateOfLines(lines, { format: "standard" }))
    assert.strictEqual(
      decoded(bytes)
        .map((one) => `${one}\n`)
        .join(""),
      lines
    )
  })

  it.each([
    ["", /no user record/],
    ["{}", /line 1 is no user record: .*partitionKey/s],
    ['\n{"partitionKey":"a","data":"x"}\n{"partitionKey', /line 3 is no user record/],
    ['{"partitionKey":"a"}', /line 1 needs either data or dataBase64/],
    ['{"partitionKey":"a","data":"x","dataBase64":"eA=="}', /line 1 needs either/],
    ['{"partitionKey":"a","dataBase64":"x"}', /line 1: its dataBase64 is not base64/],
    ['{"partitionKey":"a","data":"x","kye":1}', /line 1 is no user record: .*kye/s],
    ['{"partitionKey":"","data":"x"}', /line 1: a partition key of 0/],
    ['{"partitionKey":"a","explicitHashKey":"-1","data":"x"}', /line 1: "-1" is no hash key/],
    [`{"partitionKey":"a","data":"${"x".repeat(1_048_576)}"}`, /line 1: alone it comes to/]
  ])("are refused with the line that is wrong (%#)", (input, expected) => {
    assert.match(encodeFailure(input), expected)
  })

  it("say of an ordinary record why it is none", () => {
    const options = { opensPrivateFormats: false }
    assert.match(refusal(linesOfAggregate(Buffer.from("plain"), options)), /no aggregate.*magic/s)
    const sealed = Result.getOrThrow(
      aggregateOfLines('{"partitionKey":"a","data":"x"}', { format: "hidden" })
    )
    assert.match(refusal(linesOfAggregate(sealed, options)), /no aggregate/)
    const damaged = Uint8Array.from(decoded(sealed).length > 0 ? sealed : [])
    damaged[6]! ^= 1
    assert.match(
      refusal(linesOfAggregate(damaged, { opensPrivateFormats: true })),
      /MD5 digest at its end/
    )
  })
})
