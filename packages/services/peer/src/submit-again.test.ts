/** Requests that are submitted again: once each, all of them or none. */
import { makeParticipant } from "@holdfast/power-state"
import { Result } from "effect"
import { assert, it } from "vitest"
import { hostApplication } from "./index.ts"
import { submitAgain } from "./submit-again.ts"
import { counter, keyOf } from "./testing/cluster.ts"

const issuer = makeParticipant("a")
const born = hostApplication(counter).create({ key: keyOf(1), epoch: 1, participants: [issuer] })
const five = { request: "five", events: [5] }
const seven = { request: "seven", events: [7] }

it("counts those that are new, and names the entry of the last", () => {
  const first = Result.getOrThrow(submitAgain(born, [five], { issuer }))
  const again = Result.getOrThrow(submitAgain(first.replica, [five, seven], { issuer }))
  assert.deepStrictEqual([first.count, again.count], [1, 1])
  assert.strictEqual(again.replica.projected(), 12)
  assert.deepStrictEqual(again.replica.holders(again.last ?? assert.fail("no entry is named")), [])
  assert.isNull(Result.getOrThrow(submitAgain(born, [], { issuer })).last)
})

it("refuses all where one has no id, as that might count twice, or where there is no room", () => {
  const unnamed = submitAgain(born, [five, { request: null, events: [1] }], { issuer })
  assert.include(Result.isFailure(unnamed) ? unnamed.failure.message : "", "might count twice")
  const full = submitAgain(born, [five, seven], { issuer, pendingMax: 1 })
  assert.strictEqual(Result.isFailure(full) ? full.failure.code : "", "pending-full")
  assert.strictEqual(born.projected(), 0)
})
