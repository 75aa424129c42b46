import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import type { MessageBytes } from "./message-bytes.ts"
import { openPullSession, type PullListener, type PullRequest } from "./pull-session.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const nothing = new Uint8Array(0)
const delivery = (order: number, position = order, subject = "s.a"): MessageBytes => ({
  subject: bytes(subject),
  reply: bytes(`$JS.ACK.s.c.1.${position}.${order}.1700000000000000000.9`),
  headerBlock: nothing,
  data: bytes("x")
})
const status = (line: string): MessageBytes => ({
  subject: nothing,
  reply: nothing,
  headerBlock: bytes(`NATS/1.0 ${line}\r\n\r\n`),
  data: nothing
})

/** A session over a wire that a test plays, with what it asked, got and told. */
const makeSession = (limits = { records: 4, bytes: 1_000 }) => {
  const listeners = new Map<string, PullListener>()
  const asked: Array<{ readonly inbox: string; readonly request: PullRequest }> = []
  const positions: Array<number> = []
  const subjects: Array<Uint8Array> = []
  const ends: Array<string> = []
  const held = { records: 0, bytes: 0 }
  const session = openPullSession({
    wire: {
      newInbox: () => `inbox-${listeners.size + 1}`,
      listen: (inbox, listener) => {
        listeners.set(inbox, listener)
        return () => void listeners.delete(inbox)
      },
      ask: (request, inbox) => void asked.push({ request, inbox })
    },
    heartbeatMs: 1_000,
    limits,
    held: () => held,
    onRecord: ({ position, subject }) => {
      positions.push(Number(position))
      subjects.push(subject)
    },
    onEnd: ({ reason }) => void ends.push(reason)
  })
  const send = (inbox: string, message: MessageBytes) => listeners.get(inbox)?.onMessage(message)
  return { session, listeners, asked, positions, subjects, ends, held, send }
}

describe("a pull session", () => {
  it("gives each record its own subject; neighbours of one subject share its bytes", () => {
    const { send, subjects } = makeSession()
    const given = ["s.a", "s.a", "s.b", ""]
    given.forEach((subject, index) => send("inbox-1", delivery(index + 1, index + 1, subject)))
    assert.deepStrictEqual(
      subjects.map((subject) => new TextDecoder().decode(subject)),
      given
    )
    assert.strictEqual(subjects[0], subjects[1])
  })

  it("has two requests under way, each with a heartbeat, and makes a finished one again", () => {
    const { asked, send, positions } = makeSession()
    assert.deepStrictEqual(
      asked.map(({ inbox, request }) => [inbox, request.batch, request.max_bytes]),
      [
        ["inbox-1", 4, 1_000],
        ["inbox-2", 4, 1_000]
      ]
    )
    assert.isAbove(asked[0]?.request.expires ?? 0, 2 * (asked[0]?.request.idle_heartbeat ?? 0))
    for (const order of [1, 2, 3, 4]) send("inbox-1", delivery(order))
    assert.deepStrictEqual(positions, [1, 2, 3, 4])
    assert.deepStrictEqual(
      asked.map(({ inbox }) => inbox),
      ["inbox-1", "inbox-2", "inbox-1"]
    )
    send("inbox-2", status("408 Request Timeout"))
    assert.strictEqual(asked.length, 4)
  })

  it("ends when a delivery is missing, foreign or refused, and says nothing afterwards", () => {
    const broken: ReadonlyArray<(inbox: PullListener | undefined) => void> = [
      (inbox) => inbox?.onMessage(delivery(3)),
      (inbox) => inbox?.onMessage({ ...delivery(2), reply: bytes("somewhere.else") }),
      (inbox) => inbox?.onMessage(status("409 Consumer Deleted")),
      (inbox) => inbox?.onMessage(status("503")),
      (inbox) => inbox?.onRefusal("not permitted")
    ]
    for (const breakIt of broken) {
      const { send, listeners, positions, ends, asked, session } = makeSession()
      send("inbox-1", delivery(1))
      breakIt(listeners.get("inbox-2"))
      send("inbox-1", delivery(2))
      session.refill()
      assert.deepStrictEqual([positions, ends.length, asked.length], [[1], 1, 2])
      session.close()
      assert.strictEqual(listeners.size, 0)
    }
  })

  it("is silent only when a request under way had no sign of life for three looks", () => {
    const { session, send } = makeSession()
    assert.deepStrictEqual([session.isSilent(), session.isSilent()], [false, false])
    for (const inbox of ["inbox-1", "inbox-2"]) send(inbox, status("100 Idle Heartbeat"))
    assert.deepStrictEqual([session.isSilent(), session.isSilent()], [false, false])
    send("inbox-1", delivery(1))
    assert.isTrue(session.isSilent(), "the second request has no heartbeat")
  })

  it("asks for a record that is too large for its limits by itself, without a limit", () => {
    const { session, asked, send, held } = makeSession()
    send("inbox-1", delivery(1))
    held.records = 1
    send("inbox-2", status("409 Message Size Exceeds MaxBytes"))
    send("inbox-1", status("409 Message Size Exceeds MaxBytes"))
    assert.strictEqual(asked.length, 2, "not while something is held")
    held.records = 0
    session.refill()
    const large = asked.slice(2).map(({ request }) => [request.batch, request.max_bytes])
    assert.deepStrictEqual(large, [[1, undefined]], "alone, and nothing beside it")
    send(asked[2]?.inbox ?? "", delivery(2))
    session.refill()
    assert.deepStrictEqual(
      asked.slice(3).map(({ request }) => request.max_bytes),
      [1_000, 1_000]
    )
  })

  it("never asks for more than its limits, with what is held, allow", () => {
    const steps = fc.array(
      fc.record({ slot: fc.integer({ min: 1, max: 2 }), take: fc.nat({ max: 9 }) }),
      { maxLength: 80 }
    )
    fc.assert(
      fc.property(steps, (all) => {
        const { session, asked, held, send, positions } = makeSession({ records: 5, bytes: 1_000 })
        const owed = new Map<string, number>()
        let known = 0
        const note = () => {
          for (const { inbox, request } of asked.slice(known)) owed.set(inbox, request.batch)
          known = asked.length
        }
        note()
        for (const [index, { slot, take }] of all.entries()) {
          const inbox = `inbox-${slot}`
          const left = owed.get(inbox) ?? 0
          if (left > 0) {
            owed.set(inbox, left - 1)
            held.records += 1
            send(inbox, delivery(positions.length + 1))
          } else if (index % 2 === 0) {
            held.records = Math.max(0, held.records - take)
            session.refill()
          }
          note()
          const underWay = [...owed.values()].reduce((sum, each) => sum + each, 0)
          assert.isAtMost(held.records + underWay, 10)
        }
      })
    )
  })
})
