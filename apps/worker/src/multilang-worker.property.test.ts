/**
 * Any script of a daemon, with busy stores and children that die at any moment: the checkpoint
 * never passes a record that was not done, nothing at or below it comes again, and in the end every
 * record is done and the shard's end is stored.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import type { StoredPlace } from "../../../packages/adapters/multilang/src/testing/daemon.ts"
import { startChild, until } from "./testing/child.ts"

const action = fc.oneof(
  fc.record({ do: fc.constant("deliver" as const), count: fc.nat(6) }),
  fc.record({ do: fc.constant("finish" as const), picks: fc.array(fc.nat(99), { maxLength: 8 }) }),
  fc.record({ do: fc.constant("pause" as const) })
)
const ending = fc.constantFrom("requested" as const, "lost" as const, "closed" as const)
const busy = fc.constantFrom(undefined, undefined, undefined, "ThrottlingException")
const story = fc.record({
  /** How many records have each sequence number. */
  groups: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 }),
  lives: fc.array(
    fc.record({
      actions: fc.array(action, { maxLength: 10 }),
      errors: fc.array(busy, { maxLength: 3 }),
      ending
    }),
    { minLength: 1, maxLength: 3 }
  )
})
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never
type Life = Story["lives"][number]

const recordsOf = ({ groups }: Story) =>
  groups.flatMap((size, group) =>
    Array.from({ length: size }, (_, sub) => ({
      sequenceNumber: group + 1,
      subSequenceNumber: sub,
      data: `${group + 1}.${sub}`
    }))
  )

const isAtOrBelow = (name: string, place: StoredPlace | undefined): boolean => {
  if (place === undefined) return false
  if (place === "SHARD_END") return true
  const [sequenceNumber = 0, subSequenceNumber = 0] = name.split(".").map(Number)
  return sequenceNumber < place[0] || (sequenceNumber === place[0] && subSequenceNumber <= place[1])
}

interface Told {
  readonly records: ReturnType<typeof recordsOf>
  readonly done: Set<string>
  checkpoint: StoredPlace | undefined
}

const assertSound = ({ done, records }: Told, place: StoredPlace | undefined): void => {
  for (const { data } of records) {
    if (isAtOrBelow(data, place)) assert.isTrue(done.has(data), `${data} was passed`)
  }
}

const child = (told: Told, errors: Life["errors"]) =>
  startChild({
    records: told.records,
    errors,
    ...(told.checkpoint === undefined ? {} : { checkpoint: told.checkpoint })
  })

const live = Effect.fnUntraced(function* (told: Told, { actions, ending, errors }: Life) {
  const one = yield* child(told, errors)
  const finish = (names: ReadonlyArray<string>) =>
    Effect.suspend(() => {
      for (const name of names) told.done.add(name)
      return one.finish(...names)
    })
  for (const each of actions) {
    if (each.do === "deliver") yield* Effect.promise(() => one.daemon.deliver(each.count))
    else if (each.do === "pause") yield* Effect.sleep("15 millis")
    else if (one.started.length > 0) {
      yield* finish(each.picks.map((pick) => one.started[pick % one.started.length] ?? ""))
    }
    assertSound(told, one.daemon.checkpoint)
  }
  if (ending === "requested") yield* Effect.promise(() => one.daemon.shutdownRequested())
  if (ending !== "closed") yield* Effect.promise(() => one.daemon.leaseLost())
  assert.isUndefined(yield* one.close)
  assertSound(told, one.daemon.checkpoint)
  for (const name of one.started) assert.isFalse(isAtOrBelow(name, told.checkpoint), name)
  told.checkpoint = one.daemon.checkpoint
})

const play = Effect.fnUntraced(function* (told: Story) {
  const world: Told = { records: recordsOf(told), done: new Set(), checkpoint: undefined }
  for (const life of told.lives) yield* live(world, life)
  const last = yield* child(world, [])
  yield* Effect.promise(() => last.daemon.deliver(100))
  const rest = world.records.filter(({ data }) => !isAtOrBelow(data, world.checkpoint))
  yield* until(() => last.started.length === rest.length)
  const ended = last.daemon.shardEnded()
  for (const name of [...last.started].reverse()) world.done.add(name)
  yield* last.finish(...[...last.started].reverse())
  yield* Effect.promise(() => ended)
  assert.strictEqual(last.daemon.checkpoint, "SHARD_END")
  assert.strictEqual(world.done.size, world.records.length)
  assert.isUndefined(yield* last.close)
})

describe("children of a daemon, one after the other", () => {
  const seed = 20_261_201
  const cases = fc.sample(story, { numRuns: 12, seed }).map((told, at) => ({ told, at }))
  it.live.each(cases)(`story $at of seed ${seed}`, ({ told }) => play(told))
})
