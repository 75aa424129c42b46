/** One provisional partition whose owners change, and come back, before they are let in. */
import { makeParticipant } from "@holdfast/power-state"
import * as fc from "fast-check"
import { Result } from "effect"
import { assert, it } from "vitest"
import { hostApplication, type Replica } from "./index.ts"
import type { JobBody } from "./job.ts"
import { PartitionTable } from "./partition-table.ts"
import { releaseStep } from "./release.ts"
import { hearState, letOwnersIn, type Ownership } from "./replication-steps.ts"
import { counter, keyOf } from "./testing/cluster.ts"

const hosted = hostApplication(counter)
const address = { application: "counter", key: keyOf(1) }
const names = ["a", "b", "c", "d"]
type Owners = readonly [string, string]

class World {
  readonly replicas = new Map<string, Replica>()
  owners: Owners = ["a", "b"]
  isSwept = false

  constructor() {
    const participants = this.owners.map((name) => makeParticipant(name))
    const issuer = makeParticipant("a")
    const born = hosted.create({ key: address.key, epoch: 1, participants, isProvisional: true })
    const command = { issuer, events: [5], request: "add 5", pendingMax: 10 }
    const written = Result.getOrThrow(born.apply(command)).replica
    this.replicas.set("a", Result.getOrThrow(written.acknowledge(issuer)))
    this.replicas.set("b", born)
  }

  #isOwner(name: string): boolean {
    return this.owners.includes(name)
  }

  #ownership(name: string): Ownership {
    return {
      self: makeParticipant(name),
      holdersOf: () => this.owners.map((owner) => makeParticipant(owner)),
      isEjected: () => false,
      isReleased: () => !this.#isOwner(name),
      birthOf: () => null,
      isFirstBirth: () => this.isSwept && this.#isOwner(name)
    }
  }

  #run<A>(name: string, step: JobBody<A>): A | undefined {
    const local = this.replicas.get(name) ?? null
    const resident = new PartitionTable().admit(address, { replica: local, isDamaged: false }, 0)
    const stepped = step(local, resident)
    if (Result.isFailure(stepped)) return undefined
    const { replica, value } = stepped.success
    if (replica === null) this.replicas.delete(name)
    else this.replicas.set(name, replica)
    return value
  }

  tell(from: string, to: string): void {
    const replica = this.replicas.get(from)
    if (replica === undefined || from === to) return
    const ownership = this.#ownership(to)
    const sender = makeParticipant(from)
    const sent = { _tag: "State", replica } as const
    this.#run(to, hearState({ address, sent, sender, boot: 1, ownership, isAnswered: true }))
  }

  /** An owner lets the others in; who owns it no more lets go of it. */
  tend(name: string): string | undefined {
    const ownership = this.#ownership(name)
    if (!this.#isOwner(name)) return this.#run(name, releaseStep(address, ownership))
    this.#run(name, letOwnersIn(address, ownership))
    return undefined
  }

  /** Everybody does its part until nothing is new; who is still needed for the birth. */
  settle(): ReadonlyArray<string> {
    for (let round = 0; round < 12; round += 1) {
      for (const name of names) this.tend(name)
      for (const from of names) for (const to of names) this.tell(from, to)
    }
    return names.filter((name) => this.tend(name) === "held")
  }
}

const name = fc.constantFrom(...names)
const move = fc.oneof(
  fc
    .uniqueArray(name, { minLength: 2, maxLength: 2 })
    .map(([one = "a", other = "b"]) => ({ _tag: "Own" as const, owners: [one, other] as const })),
  fc.tuple(name, name).map(([from, to]) => ({ _tag: "Tell" as const, from, to })),
  name.map((at) => ({ _tag: "Tend" as const, at })),
  fc.constant({ _tag: "Settle" as const })
)

it("peer-T12: a sweep waits for nobody who left a partition and owns it again", () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
      const world = new World()
      for (const step of moves) {
        switch (step._tag) {
          case "Own":
            world.owners = step.owners
            break
          case "Tell":
            world.tell(step.from, step.to)
            break
          case "Tend":
            world.tend(step.at)
            break
          case "Settle":
            world.settle()
            break
        }
      }
      assert.deepStrictEqual(world.settle(), [])
      world.isSwept = true
      world.settle()
      assert.deepStrictEqual([...world.replicas.keys()].sort(), [...world.owners].sort())
      for (const replica of world.replicas.values()) {
        assert.deepStrictEqual([replica.infimum(), replica.pending()], [5, 0])
      }
    }),
    { numRuns: 300 }
  )
})
