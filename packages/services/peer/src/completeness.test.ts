import { assert, describe, it } from "@effect/vitest"
import { foundCluster } from "@holdfast/cluster"
import { KeySet, PeerId } from "@holdfast/keyspace"
import { Effect, Result } from "effect"
import { birthOfCluster, hostCluster } from "./cluster-partition.ts"
import { Completeness } from "./completeness.ts"
import { Membership } from "./membership.ts"
import { PeerView } from "./peer-view.ts"

const names = ["a", "b", "c", "d", "e"].map((name) => PeerId.make(name))
const silentMillis = 100

/** The view of `a`, whose clock and whose ears the test holds. */
const makeWorld = () => {
  const founders = names.map((peer) => ({ peer }))
  const founded = Result.getOrThrow(foundCluster({ founders, factor: 3 }))
  const membership = new Membership(birthOfCluster(hostCluster(founded), founded))
  const { distribution } = membership
  let now = 0
  const view: PeerView = new PeerView({
    self: { peer: PeerId.make("a"), incarnation: 0, boot: 1 },
    membership,
    now: () => now,
    silentMillis,
    onReturn: (peer) => completeness.noteReturned(peer),
    onEnd: () => undefined
  })
  const completeness = new Completeness(membership, view)
  const hear = (peer: string) => view.hear({ peer: PeerId.make(peer), incarnation: 0, boot: 1 })
  const sync = (peer: string) =>
    Effect.runSync(completeness.compared(PeerId.make(peer), "everything", Effect.void))
  const own = KeySet.fromRanges(
    distribution.segments
      .filter(({ owners }) => owners.includes(PeerId.make("a")))
      .map(({ from, to }) => [from, to])
  )
  const othersOfOne = (
    distribution.segments.find(({ owners }) => owners.includes(PeerId.make("a")))?.owners ?? []
  ).filter((peer) => peer !== "a")
  const answersAll = () => KeySet.equals(completeness.keys(), own)
  for (const peer of ["b", "c", "d", "e"]) {
    hear(peer)
    sync(peer)
  }
  return {
    completeness,
    answer: (peer: PeerId) => view.noteAnswer(peer),
    compareWhile: (peer: PeerId, what: () => unknown) =>
      Effect.runSync(completeness.compared(peer, "everything", Effect.sync(what))),
    hear,
    sync,
    othersOfOne,
    answersAll,
    answersNothing: () => KeySet.isEmpty(completeness.keys()),
    pass: (millis: number) => {
      now += millis
    }
  }
}

describe("a peer answers for", () => {
  it("what one of two other owners vouches for, and not what neither does", () => {
    for (const silent of [1, 2]) {
      const world = makeWorld()
      const quiet = new Set(world.othersOfOne.slice(0, silent))
      world.pass(silentMillis - 1)
      for (const peer of names) if (peer !== "a" && !quiet.has(peer)) world.hear(peer)
      world.pass(2)
      assert.strictEqual(world.answersAll(), silent === 1)
      assert.isFalse(world.answersNothing())
    }
  })

  it("nothing that others own too while it hears nobody: it may be cut off", () => {
    const world = makeWorld()
    world.pass(silentMillis + 1)
    assert.isTrue(world.answersNothing())
  })

  it("nothing for a comparison that was under way when the other came back", () => {
    const world = makeWorld()
    world.pass(silentMillis + 1)
    for (const peer of names) if (peer !== "a") world.compareWhile(peer, () => world.hear(peer))
    assert.isTrue(world.answersNothing())
    for (const peer of names) if (peer !== "a") world.sync(peer)
    assert.isTrue(world.answersAll())
  })

  it("nothing more for an answer that comes late: it is no return", () => {
    const world = makeWorld()
    world.pass(silentMillis + 1)
    for (const peer of names) world.answer(peer)
    assert.isTrue(world.answersNothing())
    for (const peer of names) if (peer !== "a") world.hear(peer)
    assert.isTrue(world.answersNothing())
  })

  it("all while those that it hears only answer", () => {
    const world = makeWorld()
    for (let time = 0; time < 3 * silentMillis; time += silentMillis - 1) {
      world.pass(silentMillis - 1)
      for (const peer of names) world.answer(peer)
    }
    assert.isTrue(world.answersAll())
  })

  it("peer-B10: nothing when it hears the first after it heard nobody, until they compared", () => {
    const world = makeWorld()
    world.pass(silentMillis + 1)
    world.hear("b")
    assert.isTrue(world.answersNothing())
    world.sync("b")
    assert.isFalse(world.answersNothing())
    assert.isFalse(world.answersAll(), "what it shares with others only may have gone on, too")
    for (const peer of ["c", "d", "e"]) {
      world.hear(peer)
      world.sync(peer)
    }
    assert.isTrue(world.answersAll())
  })

  it("peer-B10: nothing after its broker was away, until they compared", () => {
    const world = makeWorld()
    world.completeness.noteCutOff()
    assert.isTrue(world.answersNothing())
    for (const peer of ["b", "c", "d", "e"]) world.sync(peer)
    assert.isTrue(world.answersAll())
  })

  it("the rest while one comes back that was down alone", () => {
    const world = makeWorld()
    world.pass(silentMillis - 1)
    for (const peer of ["b", "c", "d"]) world.hear(peer)
    world.pass(2)
    world.hear("e")
    assert.isFalse(world.answersAll())
    assert.isFalse(world.answersNothing())
  })
})
