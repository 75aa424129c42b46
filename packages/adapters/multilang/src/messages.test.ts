import { Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { checkpointLine, parseLine } from "./messages.ts"
import { placeOf, positionOf, subSequenceNumberMax } from "./position.ts"

const parsed = (value: unknown) => Result.getOrThrow(parseLine(JSON.stringify(value)))
const faultOf = (line: string) => {
  const result = parseLine(line)
  return Result.isFailure(result) ? result.failure : undefined
}

describe("lines of a daemon", () => {
  it("worker-E5: a requested shutdown has no reason, and is a message of its own", () => {
    const message = { _tag: "ShutdownRequested", responseFor: "shutdownRequested" }
    expect(parsed({ action: "shutdownRequested" })).toEqual(message)
  })

  it.each([
    ["TERMINATE", "ShardEnded"],
    ["ZOMBIE", "LeaseLost"],
    ["REQUESTED", "ShutdownRequested"],
    ["SOMETHING_NEW", "LeaseLost"]
  ])("a shutdown for %s is %s, answered as a shutdown", (reason, _tag) => {
    expect(parsed({ action: "shutdown", reason })).toEqual({ _tag, responseFor: "shutdown" })
  })

  it("a start names a place, a word, or in V1 nothing", () => {
    const start = { action: "initialize", shardId: "s" }
    expect(parsed(start)).toMatchObject({ after: undefined, dialect: "V1" })
    const horizon = { sequenceNumber: "TRIM_HORIZON", subSequenceNumber: 0 }
    expect(parsed({ ...start, ...horizon })).toMatchObject({ after: undefined, dialect: "V2" })
    const place = { sequenceNumber: "49590338271490256608559692538361571095921575989136588898" }
    const after = positionOf({ ...place, subSequenceNumber: 3 })
    expect(parsed({ ...start, ...place, subSequenceNumber: 3 })).toMatchObject({ after })
  })

  it("worker-W23: a record keeps its time, its key and its bytes, and its place in an aggregate", () => {
    const message = parsed({
      action: "processRecords",
      millisBehindLatest: 12,
      records: [
        {
          action: "record",
          data: "/w==",
          partitionKey: "ключ",
          sequenceNumber: "7",
          subSequenceNumber: 2,
          approximateArrivalTimestamp: 1_700_000_000_123
        }
      ]
    })
    const [record] = message._tag === "ProcessRecords" ? message.records : []
    expect(record?.position).toBe((7n << 32n) | 2n)
    expect(record?.timestamp).toBe(1_700_000_000_123_000_000n)
    expect(new TextDecoder().decode(record?.subject)).toBe("ключ")
    expect([...(record?.data ?? [])]).toEqual([255])
  })

  it.each([
    ["stray print", "NotJson"],
    ["{", "NotJson"],
    ["{}", "Invalid"],
    ["null", "Invalid"],
    ['{"action":"dance"}', "Invalid"],
    ['{"action":"initialize"}', "Invalid"],
    [
      '{"action":"processRecords","records":[{"data":"!","partitionKey":"","sequenceNumber":"1"}]}',
      "Invalid"
    ],
    [
      '{"action":"processRecords","records":[{"data":"","partitionKey":"","sequenceNumber":"x"}]}',
      "Invalid"
    ]
  ])("worker-W24: %s is no message: %s", (line, _tag) => {
    expect(faultOf(line)?._tag).toBe(_tag)
  })

  it("never throws, whatever it is", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (line) => void parseLine(line)))
  })
})

describe("places", () => {
  const place = fc.record({
    sequenceNumber: fc.bigInt(0n, 2n ** 190n).map(String),
    subSequenceNumber: fc.nat(subSequenceNumberMax)
  })

  it("worker-B2: are ordered by sequence number, then by sub-sequence number, and come back", () => {
    fc.assert(
      fc.property(place, place, (one, other) => {
        expect(placeOf(positionOf(one))).toEqual(one)
        const [a, b] = [BigInt(one.sequenceNumber), BigInt(other.sequenceNumber)]
        const isBefore = a < b || (a === b && one.subSequenceNumber < other.subSequenceNumber)
        expect(positionOf(one) < positionOf(other)).toBe(isBefore)
      })
    )
  })

  it("are always written with their sub-sequence number, but to the oldest daemons", () => {
    const place = placeOf(positionOf({ sequenceNumber: "10", subSequenceNumber: 0 }))
    expect(checkpointLine("V2", place)).toBe(
      '{"action":"checkpoint","sequenceNumber":"10","subSequenceNumber":0}'
    )
    expect(checkpointLine("V1", place)).toBe('{"action":"checkpoint","checkpoint":"10"}')
  })
})
