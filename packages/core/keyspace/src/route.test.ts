import { Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { distribute, keyFromBigInt, NoOwner, ownersOf, PeerId, route } from "./index.ts"

const peers = ["a", "b", "c", "d", "e"].map((name) => PeerId.make(name))
const distribution = Result.getOrThrow(
  distribute({ members: peers.map((peer) => ({ peer })), epoch: 4 })
)
const anyKey = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(keyFromBigInt)

describe("route", () => {
  it("peer-T28: answers a typed error when nobody owns the key", () => {
    const nobody = Result.getOrThrow(distribute({ members: [], epoch: 9 }))
    const answer = route({ distribution: nobody, key: keyFromBigInt(1n), rotation: 0 })
    const error = Result.getOrThrow(Result.flip(answer))
    expect(error).toBeInstanceOf(NoOwner)
    expect(error.message).toContain("epoch 9")
  })

  it("names every owner once, whatever the rotation", () => {
    fc.assert(
      fc.property(anyKey, fc.maxSafeInteger(), (key, rotation) => {
        const asked = Result.getOrThrow(route({ distribution, key, rotation }))
        expect(asked.toSorted()).toEqual([...ownersOf(distribution, key)].toSorted())
      })
    )
  })

  it("makes each owner first in turn", () => {
    const key = keyFromBigInt(12345n)
    const firsts = [0, 1, 2, 3, -1].map(
      (rotation) => Result.getOrThrow(route({ distribution, key, rotation }))[0]
    )
    const owners = ownersOf(distribution, key)
    expect(firsts).toEqual([owners[0], owners[1], owners[2], owners[0], owners[2]])
  })

  it("puts the asker first and those thought down last", () => {
    const key = keyFromBigInt(12345n)
    const [one, two, three] = ownersOf(distribution, key)
    const asked = route({ distribution, key, rotation: 0, first: three!, last: new Set([one!]) })
    expect(Result.getOrThrow(asked)).toEqual([three, two, one])
    const stranger = peers.find((peer) => !ownersOf(distribution, key).includes(peer))!
    const unchanged = route({ distribution, key, rotation: 0, first: stranger })
    expect(Result.getOrThrow(unchanged)).toEqual([one, two, three])
  })
})
