import { assert, describe, it } from "@effect/vitest"
import { type Digest, digestAdd, emptyDigest } from "@holdfast/chunk-map"
import type { ChunkName } from "@holdfast/storage"
import * as fc from "fast-check"
import { copyKey, makeCopyLedger } from "./copy-ledger.ts"

const name = (fileId: number): ChunkName => ({ fileId, chunkId: 0, version: 1 })

const digestOf = (fileIds: Iterable<number>): Digest =>
  [...fileIds].reduce((sum, fileId) => digestAdd(sum, fileId, 0, 1), emptyDigest)

/** What happens: a copy comes or goes, or a listing begins, passes the next copies, or ends. */
type Act = { readonly toggle: number } | { readonly listing: "begin" | "pass" | "end" }

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ toggle: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 4, arbitrary: fc.record({ listing: fc.constantFrom("pass" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ listing: fc.constantFrom("begin" as const, "end" as const) })
  }
)

/** A disk, which holds copies of an earlier life, and a listing that may have read a name early. */
const play = (acts: ReadonlyArray<Act>, staleBy: number, before: ReadonlyArray<number>) => {
  const ledger = makeCopyLedger()
  const held = new Set(before)
  let isListed = before.length === 0
  let ahead: Array<number> | undefined
  let position = 0
  const readAhead = () => {
    const names = [...held].toSorted((left, right) => left - right)
    return names.filter((fileId) => fileId > position).slice(0, staleBy)
  }
  const pass = () => {
    if (ahead === undefined) return false
    if (ahead.length === 0) ahead = readAhead()
    const next = ahead.shift()
    if (next === undefined) return false
    position = next
    ledger.visit(name(next))
    return true
  }
  for (const each of acts) {
    if ("toggle" in each) {
      if (held.delete(each.toggle)) ledger.removed(name(each.toggle))
      else {
        held.add(each.toggle)
        ledger.added(name(each.toggle))
      }
    } else if (each.listing === "begin") {
      position = 0
      ahead = []
      ledger.beginListing()
    } else if (each.listing === "pass") pass()
    else if (ahead !== undefined) {
      while (pass());
      ledger.endListing()
      ahead = undefined
      isListed = true
    }
    // What a heartbeat can carry, whatever is known yet.
    assert.isAtLeast(ledger.digest().count, 0)
    if (isListed && ahead === undefined) assert.deepStrictEqual(ledger.digest(), digestOf(held))
  }
}

describe("the ledger of a device", () => {
  it("is the sum of what is held, whatever changes while a listing runs", () => {
    const before = fc.uniqueArray(fc.integer({ min: 1, max: 6 }))
    const staleBy = fc.integer({ min: 1, max: 3 })
    fc.assert(fc.property(fc.array(act, { maxLength: 60 }), staleBy, before, play), {
      numRuns: 2000
    })
  })

  it("a listing puts a wrong sum right, and tells what came during it", () => {
    const ledger = makeCopyLedger()
    ledger.removed(name(9))
    ledger.beginListing()
    ledger.visit(name(1))
    ledger.added(name(2))
    ledger.added(name(5))
    ledger.removed(name(5))
    assert.isFalse(ledger.visit(name(2)))
    assert.deepStrictEqual(ledger.endListing().map(copyKey), ["2/0/1"])
    assert.deepStrictEqual(ledger.digest(), digestOf([1, 2]))
  })
})
