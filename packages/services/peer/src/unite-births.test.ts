/** One key, created twice under different epochs: both writes count, whoever hears whom first. */
import { type Participant, makeParticipant } from "@holdfast/power-state"
import * as fc from "fast-check"
import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { hostApplication, type Replica } from "./index.ts"
import { PartitionTable } from "./partition-table.ts"
import { hearState } from "./replication-steps.ts"
import { counter, keyOf } from "./testing/cluster.ts"

const hosted = hostApplication(counter)
const before = ["a", "b", "c"].map((name) => makeParticipant(name))
const after = ["b", "c", "d"].map((name) => makeParticipant(name))
const everybody = ["a", "b", "c", "d"].map((name) => makeParticipant(name))
const address = { application: "counter", key: keyOf(1) }

const born = (epoch: number, participants: ReadonlyArray<Participant>): Replica =>
  hosted.create({ key: address.key, epoch, participants })

const written = (replica: Replica, options: { issuer: string; amount: number }): Replica => {
  const { amount } = options
  const issuer = makeParticipant(options.issuer)
  const command = { issuer, events: [amount], request: `add ${amount}`, pendingMax: 10 }
  const applied = Result.getOrThrow(replica.apply(command)).replica
  return Result.getOrThrow(applied.acknowledge(issuer))
}

/** What a peer makes of a state that it hears; what it refuses changes nothing. */
const hear = (
  self: Participant,
  local: Replica | null,
  { from, incoming }: { readonly from: Participant; readonly incoming: Replica }
): Replica | null => {
  const resident = new PartitionTable().admit(address, { replica: local, isDamaged: false }, 0)
  const isReleased = (): boolean => after.every(({ peer }) => peer !== self.peer)
  const ownership = {
    self,
    holdersOf: () => after,
    isEjected: () => false,
    isReleased,
    birthOf: () => null
  }
  const step = hearState({ address, incoming, sender: from, ownership, isAnswered: true })
  return Result.match(step(local, resident), {
    onFailure: () => local,
    onSuccess: ({ replica }) => replica
  })
}

class World {
  readonly replicas = new Map<string, Replica | null>()

  tell(from: string, to: string): void {
    const state = this.replicas.get(from) ?? null
    if (state === null || from === to) return
    this.replicas.set(
      to,
      hear(makeParticipant(to), this.replicas.get(to) ?? null, {
        from: makeParticipant(from),
        incoming: state
      })
    )
  }

  /** Everybody tells everybody until nothing is new. */
  settle(): void {
    for (let round = 0; round < 8; round += 1) {
      for (const from of everybody) for (const to of everybody) this.tell(from.peer, to.peer)
    }
  }
}

const names = everybody.map(({ peer }) => String(peer))

describe("two births of one key", () => {
  it("peer-T12, peer-P11: both writes are on all owners, whichever is heard first", () => {
    const pair = fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names))
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 30 }), (told) => {
        const world = new World()
        world.replicas.set("a", written(born(3, before), { issuer: "a", amount: 5 }))
        world.replicas.set("d", written(born(4, after), { issuer: "d", amount: 7 }))
        for (const [from, to] of told) world.tell(from, to)
        world.settle()
        for (const { peer } of after) {
          const replica = world.replicas.get(peer)
          assert.strictEqual(replica?.infimum(), 12, peer)
          assert.strictEqual(replica?.pending(), 0, peer)
        }
        // Who owns the key no more is among them, or has nothing left.
        assert.include([12, undefined], world.replicas.get("a")?.infimum())
      })
    )
  })

  it("peer-B32: a write in each during the move is answered once and counts once", () => {
    const world = new World()
    world.replicas.set("a", written(born(3, before), { issuer: "a", amount: 5 }))
    world.tell("a", "b")
    // The client of `a` heard nothing and asked `d`, under the same request id.
    world.replicas.set("d", written(born(4, after), { issuer: "d", amount: 5 }))
    world.settle()
    for (const { peer } of after) assert.strictEqual(world.replicas.get(peer)?.infimum(), 5, peer)
  })
})
