/** One key, created twice under different epochs: both writes count, whoever hears whom first. */
import { type Participant, makeParticipant } from "@holdfast/power-state"
import * as fc from "fast-check"
import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { hostApplication, type Replica } from "./index.ts"
import { PartitionTable } from "./partition-table.ts"
import type { JobBody } from "./job.ts"
import { hearState, letOwnersIn, type Ownership } from "./replication-steps.ts"
import { counter, keyOf } from "./testing/cluster.ts"

const hosted = hostApplication(counter)
const before = ["a", "b", "c"].map((name) => makeParticipant(name))
const after = ["b", "c", "d"].map((name) => makeParticipant(name))
const everybody = ["a", "b", "c", "d"].map((name) => makeParticipant(name))
const address = { application: "counter", key: keyOf(1) }

const born = (epoch: number, participants: ReadonlyArray<Participant>): Replica =>
  hosted.create({ key: address.key, epoch, participants, isProvisional: true })

const isOnce = (one: Participant, index: number, all: ReadonlyArray<Participant>): boolean =>
  all.findIndex(({ peer }) => peer === one.peer) === index

const written = (replica: Replica, options: { issuer: string; amount: number }): Replica => {
  const { amount } = options
  const issuer = makeParticipant(options.issuer)
  const command = { issuer, events: [amount], request: `add ${amount}`, pendingMax: 10 }
  const applied = Result.getOrThrow(replica.apply(command)).replica
  return Result.getOrThrow(applied.acknowledge(issuer))
}

const isOwner = ({ peer }: Participant): boolean => after.some((owner) => owner.peer === peer)

class World {
  readonly replicas = new Map<string, Replica | null>()
  /** Who knows that all have swept. */
  readonly swept = new Set<string>()

  /** What a peer acts on. */
  #ownership(self: Participant): Ownership {
    return {
      self,
      holdersOf: () => after,
      isEjected: () => false,
      isReleased: () => !isOwner(self),
      birthOf: () => null,
      isFirstBirth: () => isOwner(self) && this.swept.has(self.peer)
    }
  }

  /** What a peer makes of a state that it hears; what it refuses changes nothing. */
  tell(from: string, to: string): void {
    const incoming = this.replicas.get(from) ?? null
    if (incoming === null || from === to) return
    const ownership = this.#ownership(makeParticipant(to))
    const sender = makeParticipant(from)
    const sent = { _tag: "State", replica: incoming } as const
    this.#run(to, hearState({ address, sent, sender, boot: 1, ownership, isAnswered: true }))
  }

  /** A peer hears that all have swept, and goes over its partitions. */
  confirm(name: string): void {
    this.swept.add(name)
    this.#run(name, letOwnersIn(address, this.#ownership(makeParticipant(name))))
  }

  #run(name: string, step: JobBody<unknown>): void {
    const local = this.replicas.get(name) ?? null
    const resident = new PartitionTable().admit(address, { replica: local, isDamaged: false }, 0)
    const stepped = step(local, resident)
    if (Result.isSuccess(stepped)) this.replicas.set(name, stepped.success.replica)
  }

  /** Everybody tells everybody until nothing is new. */
  settle(): void {
    for (let round = 0; round < 8; round += 1) {
      for (const from of everybody) for (const to of everybody) this.tell(from.peer, to.peer)
    }
  }

  /** All have swept: the owners learn of it one after the other, and others are told meanwhile. */
  sweep(told: ReadonlyArray<readonly [string, string]>): void {
    this.settle()
    for (const { peer } of after) {
      this.confirm(peer)
      for (const [from, to] of told) this.tell(from, to)
    }
    this.settle()
  }

  /** Those who have folded something. */
  folded(): ReadonlyArray<string> {
    return [...this.replicas].flatMap(([name, replica]) => (replica?.infimum() === 0 ? [] : [name]))
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
        for (const [from, to] of told) {
          world.tell(from, to)
          // Whatever was acknowledged by whom: the other birth may be the one that counts.
          assert.deepStrictEqual(world.folded(), [])
        }
        world.sweep(told)
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
    world.sweep([])
    for (const { peer } of after) assert.strictEqual(world.replicas.get(peer)?.infimum(), 5, peer)
  })

  it("peer-P11: one that was confirmed stays, whatever was created later", () => {
    const pair = fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names))
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 30 }), (told) => {
        const world = new World()
        world.replicas.set("c", written(born(4, after), { issuer: "c", amount: 5 }))
        world.sweep([])
        const late = born(2, before.concat(after).filter(isOnce))
        world.replicas.set("a", written(late, { issuer: "a", amount: 7 }))
        for (const [from, to] of told) world.tell(from, to)
        world.settle()
        for (const { peer } of after) {
          assert.strictEqual(world.replicas.get(peer)?.infimum(), 12, peer)
        }
      })
    )
  })
})
