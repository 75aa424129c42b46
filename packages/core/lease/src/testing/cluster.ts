/** Workers on one store under one real time, with clocks of their own: the tests' small world. */
import { Option } from "effect"
import type { Claim, Holding, StoredClaim } from "../claim.ts"
import { decide, type LeaseAction } from "../decide.ts"
import { invariants } from "../invariants.ts"
import { emptyTable, observe } from "../observe.ts"
import { mayAct, released } from "../ownership.ts"

/** The term and margin of the tests: clocks may differ in rate by far less than a tenth. */
export const term = { termMs: 1_000, marginMs: 100 }

/** The store: compare-and-set on revisions. */
export class Store {
  readonly claims = new Map<string, StoredClaim>()
  revision = 0n
  violations: Array<string> = []

  list(): ReadonlyArray<StoredClaim> {
    return [...this.claims.values()]
  }

  write(claim: Claim, expected: Option.Option<bigint>): boolean {
    const stored = this.claims.get(claim.shard)
    if (stored?.revision !== Option.getOrUndefined(expected)) return false
    this.revision += 1n
    const before = observe(emptyTable, this.list(), 0)
    this.claims.set(claim.shard, { record: claim, revision: this.revision })
    const broken = invariants(before, observe(emptyTable, this.list(), 0))
    this.violations.push(...broken.map(({ found, rule }) => `${rule}: ${found}`))
    return true
  }
}

/** One worker: what it saw, what it holds and what it is about to write. */
export class Worker {
  table = emptyTable
  held = new Map<string, Holding>()
  pending: Array<LeaseAction> = []
  isUp = true
  readonly name: string
  readonly rate: number
  readonly offset: number
  readonly store: Store

  constructor(options: { name: string; rate: number; offset: number; store: Store }) {
    this.name = options.name
    this.rate = options.rate
    this.offset = options.offset
    this.store = options.store
  }

  clock(real: number): number {
    return real * this.rate + this.offset
  }

  /** Lists the claims and decides; what it decided is written by later steps. */
  look(real: number, shards: ReadonlyArray<string>): void {
    if (!this.isUp) return
    const now = this.clock(real)
    this.stopLapsed(real)
    this.table = observe(this.table, this.store.list(), now)
    const { held, name: self, table } = this
    const termMs = term.termMs
    this.pending = [...decide({ table, now, termMs, self, shards, held, isAccepting: true })]
  }

  /** Carries one decided action out. */
  act(real: number): void {
    if (!this.isUp) return
    this.stopLapsed(real)
    const action = this.pending.shift()
    if (action === undefined) return
    const renewedAt = this.clock(real)
    switch (action._tag) {
      case "Claim":
        if (this.store.write(action.claim, action.expected)) {
          const { epoch, shard } = action.claim
          this.held.set(shard, { epoch, renewedAt, isDraining: false })
        }
        return
      case "Renew": {
        const holding = this.held.get(action.claim.shard)
        if (holding?.epoch !== action.claim.epoch) return
        if (!this.store.write(action.claim, action.expected)) return
        this.held.set(action.claim.shard, { ...holding, renewedAt })
        return
      }
      case "Ask":
        this.store.write(action.claim, action.expected)
        return
      case "HandOff": {
        const holding = this.held.get(action.shard)
        if (holding !== undefined) this.held.set(action.shard, { ...holding, isDraining: true })
        return
      }
      case "Lost":
        this.held.delete(action.shard)
    }
  }

  /** Releases what has drained; it stops acting before it writes. */
  release(): void {
    if (!this.isUp) return
    for (const [shard, { epoch, isDraining }] of this.held) {
      if (!isDraining) continue
      const stored = this.store.claims.get(shard)
      this.held.delete(shard)
      if (stored?.record.epoch === epoch) {
        this.store.write(released(stored.record), Option.some(stored.revision))
      }
    }
  }

  crash(): void {
    this.isUp = false
    this.held.clear()
    this.pending = []
    this.table = emptyTable
  }

  /** Whether it would act as the owner now; a crashed one does nothing. */
  believes(shard: string, real: number): boolean {
    const holding = this.held.get(shard)
    return this.isUp && holding !== undefined && mayAct(holding, this.clock(real), term)
  }

  private stopLapsed(real: number): void {
    for (const [shard, holding] of this.held) {
      if (!mayAct(holding, this.clock(real), term)) this.held.delete(shard)
    }
  }
}
