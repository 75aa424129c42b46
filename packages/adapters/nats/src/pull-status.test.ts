import { assert, describe, it } from "@effect/vitest"
import { readStatus } from "./pull-status.ts"
import { isRecentEnough } from "./server-version.ts"
import { listenFault, publishFault } from "./subject.ts"

const status = (line: string) =>
  readStatus(new TextEncoder().encode(`NATS/1.0 ${line}\r\nNats-Pending-Messages: 3\r\n\r\n`)).kind

describe("a status message of a pull request", () => {
  for (const [line, kind] of [
    ["100 Idle Heartbeat", "heartbeat"],
    ["404 No Messages", "request-over"],
    ["408 Request Timeout", "request-over"],
    ["409 Batch Completed", "request-over"],
    ["409 Message Size Exceeds MaxBytes", "next-is-large"],
    ["409 Consumer Deleted", "consumer-lost"],
    ["409 Leadership Change", "consumer-lost"],
    ["409 Server Shutdown", "consumer-lost"],
    ["503", "consumer-lost"],
    ["", "consumer-lost"]
  ] as const) {
    it(`"${line}" means ${kind}`, () => assert.strictEqual(status(line), kind))
  }
})

describe("a server's version", () => {
  for (const [version, expected] of [
    ["2.9.10", true],
    ["2.10.0-RC.1", true],
    ["v3.0.1", true],
    ["2.8.4", false],
    ["1.4.1", false],
    ["", false]
  ] as const) {
    it(`"${version}" is ${expected ? "recent enough" : "too old or unknown"}`, () =>
      assert.strictEqual(isRecentEnough(version), expected))
  }
})

describe("a subject", () => {
  for (const [subject, canPublish, canListen] of [
    ["a", true, true],
    ["a.b-c.ü", true, true],
    ["a.*", false, true],
    ["a.>", false, true],
    [">", false, true],
    ["a.>.b", false, false],
    ["a.b*", true, true],
    ["", false, false],
    ["a..b", false, false],
    [".a", false, false],
    ["a b", false, false],
    ["a\tb", false, false],
    ["a\r\nPUB b 0", false, false],
    ["a".repeat(1_025), false, false]
  ] as const) {
    it(`${JSON.stringify(subject.slice(0, 20))}: publish ${canPublish}, listen ${canListen}`, () => {
      assert.deepStrictEqual(
        [publishFault(subject) === undefined, listenFault(subject) === undefined],
        [canPublish, canListen]
      )
    })
  }
})
