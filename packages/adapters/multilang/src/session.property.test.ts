/**
 * Any script of a daemon that keeps to the protocol, with any moment for what the caller asks: each
 * action is answered once, a checkpoint goes out only inside one that allows it and is waited for,
 * and nothing is asked for after the lease is lost.
 */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { positionOf } from "./position.ts"
import { Session } from "./session.ts"

const at = (sequenceNumber: number): bigint =>
  positionOf({ sequenceNumber: String(sequenceNumber), subSequenceNumber: 0 })

const step = fc.oneof(
  fc.record({ do: fc.constant("deliver" as const), count: fc.nat(4) }),
  fc.record({
    do: fc.constantFrom(
      "requestShutdown" as const,
      "endShard" as const,
      "loseLease" as const,
      "ask" as const,
      "withdraw" as const,
      "drain" as const,
      "forget" as const
    )
  }),
  fc.record({
    do: fc.constant("reply" as const),
    error: fc.constantFrom(undefined, undefined, "ThrottlingException")
  })
)

/** A daemon that says only what it may, and checks what it hears. */
class Script {
  readonly session = new Session({ retainedBytesMax: 900 })
  private open: string | undefined
  private awaitsReply = false
  private isOver = false
  private delivered = 0
  private asked: ReturnType<Session["ask"]> | undefined

  constructor() {
    this.act("initialize", {
      _tag: "Initialize",
      responseFor: "initialize",
      shard: "s",
      after: undefined,
      dialect: "V2"
    })
  }

  play(one: typeof step extends fc.Arbitrary<infer T> ? T : never): void {
    switch (one.do) {
      case "deliver":
        return this.deliver(one.count)
      case "requestShutdown":
        return this.end("shutdownRequested", "ShutdownRequested")
      case "endShard":
        return this.end("shardEnded", "ShardEnded")
      case "loseLease":
        return this.end("leaseLost", "LeaseLost")
      case "ask":
        if (!this.session.mayRequest || this.delivered === 0) return
        this.session.finished = at(this.delivered)
        this.asked = this.session.ask(
          this.session.awaitsEnd ? { _tag: "End" } : { _tag: "At", position: at(this.delivered) }
        )
        return this.hear()
      case "withdraw":
        if (this.asked !== undefined) this.session.withdraw(this.asked)
        return this.hear()
      case "drain":
        this.session.markDrained()
        return this.hear()
      case "forget":
        this.session.forget(at(this.delivered))
        return this.hear()
      case "reply":
        return this.reply(one.error)
    }
  }

  private deliver(count: number): void {
    if (this.open !== undefined || this.isOver) return
    const records = Array.from({ length: count }, (_, index) => ({
      position: at(this.delivered + index + 1),
      timestamp: 0n,
      subject: new Uint8Array(1),
      headers: [],
      data: new Uint8Array(50)
    }))
    this.delivered += count
    const responseFor = "processRecords"
    this.act(responseFor, { _tag: "ProcessRecords", responseFor, records, dialect: "V2" })
  }

  private end(responseFor: string, _tag: "LeaseLost" | "ShardEnded" | "ShutdownRequested"): void {
    if (this.open !== undefined || this.isOver) return
    this.isOver = _tag !== "ShutdownRequested"
    this.act(responseFor, { _tag, responseFor })
  }

  private reply(error: string | undefined): void {
    if (!this.awaitsReply) return
    this.awaitsReply = false
    const fault = this.session.receive({
      _tag: "CheckpointReply",
      sequenceNumber: undefined,
      error
    })
    expect(fault).toBeUndefined()
    this.hear()
  }

  private act(action: string, message: Parameters<Session["receive"]>[0]): void {
    this.open = action
    expect(this.session.receive(message)).toBeUndefined()
    this.hear()
  }

  private hear(): void {
    for (let line = this.session.nextLine(); line !== undefined; line = this.session.nextLine()) {
      const said: { action: string; responseFor?: string } = JSON.parse(line)
      expect(this.awaitsReply).toBe(false)
      if (said.action === "status") {
        expect(said.responseFor).toBe(this.open)
        this.open = undefined
      } else {
        expect(["processRecords", "shutdownRequested", "shardEnded"]).toContain(this.open)
        expect(this.session.lostReason).toBeUndefined()
        this.awaitsReply = true
      }
    }
    // What is not answered yet waits for a reason that can come about.
    if (this.open === "processRecords" && !this.awaitsReply) {
      expect(this.session.retained.bytes).toBeGreaterThan(900)
    }
  }
}

describe("a session", () => {
  it("answers each action once, and asks only when it may", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const script = new Script()
        for (const one of steps) script.play(one)
      }),
      { numRuns: 2_000 }
    )
  })

  it("worker-D13: a reply about another place than the one asked for is a fault", () => {
    const session = new Session({ retainedBytesMax: 1 })
    const start = { _tag: "Initialize", responseFor: "initialize", shard: "s" } as const
    session.receive({ ...start, after: undefined, dialect: "V2" })
    session.nextLine()
    const responseFor = "processRecords"
    session.receive({ _tag: "ProcessRecords", responseFor, records: [], dialect: "V2" })
    session.ask({ _tag: "At", position: at(5) })
    expect(session.nextLine()).toContain('"sequenceNumber":"5"')
    expect(
      session.receive({ _tag: "CheckpointReply", sequenceNumber: "6", error: undefined })
    ).toMatch(/at 5 was asked for.*about 6/)
  })
})
