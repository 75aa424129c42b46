/** The speed of the power state: one line a figure, with its bar. */
import { figuresOf } from "@holdfast/suites/figures"
import { Result } from "effect"
import type { Fold, PowerState } from "./index.ts"
import {
  acknowledge,
  create,
  diff,
  event,
  infimumValue,
  makeParticipant,
  merge,
  mergeDiff,
  pendingCount,
  report
} from "./index.ts"

const say = figuresOf("power-state")

const counter: Fold<number, number, number> = {
  initial: 0,
  apply: (step, total) => ({ output: total + step, state: total + step })
}
type Counter = PowerState<number, number, number>

const [alice, bob] = [makeParticipant("alice"), makeParticipant("bob")]
const born = (): Counter =>
  create(counter, { origin: { key: "bench", epoch: 0, lineage: 0 }, participants: [alice, bob] })

const write = (state: Counter, request: string | null): Counter =>
  Result.getOrThrow(
    event(counter, state, { issuer: alice, event: 1, request, pendingMax: 1_000_000 })
  ).state
const save = (state: Counter, who = alice): Counter =>
  Result.getOrThrow(acknowledge(counter, state, who)).state
const fill = (
  state: Counter,
  count: number,
  request: (index: number) => string | null
): Counter => {
  let next = state
  for (let index = 0; index < count; index += 1) next = write(next, request(index))
  return next
}
const none = () => null

const merged = (local: Counter, incoming: Counter): Counter =>
  Result.getOrThrow(merge(counter, local, incoming)).state

const timed = (run: () => void): number => {
  const begin = performance.now()
  run()
  return performance.now() - begin
}

/** Pending stays at `pending`: bob acknowledges every so often, alice each time. */
const steady = (pending: number, folded: number, request: (index: number) => string | null) => {
  let state = save(save(fill(born(), folded, none)), bob)
  state = save(fill(state, pending, request))
  const rounds = 20_000
  const elapsed = timed(() => {
    for (let index = 0; index < rounds; index += 1) {
      state = save(write(state, request(pending + index)))
      if (pendingCount(state) >= 2 * pending) state = save(state, bob)
    }
  })
  return (elapsed * 1000) / rounds
}

const fresh = (index: number) => `request-${index}`
steady(100, 0, none)
const base = steady(100, 0, none)
say({
  what: "event and acknowledgement, 100 to 200 pending",
  value: base,
  unit: "microseconds",
  bar: { atMost: 20 }
})
say({
  what: "  event and acknowledgement with request ids",
  value: steady(100, 0, fresh),
  unit: "microseconds",
  bar: { atMost: 20 }
})
const later = steady(100, 200_000, none)
say({
  what: "  after 200,000 folded",
  value: later,
  unit: "microseconds",
  bar: { atMost: 20 }
})
say({ what: "  after 200,000 folded, against none folded", value: later / base, unit: "times" })

const folding = timed(() => {
  const state = save(save(fill(born(), 500_000, none)), bob)
  if (infimumValue(state) !== 500_000 || pendingCount(state) !== 0) throw new Error("not folded")
})
say({
  what: "500,000 events folded, 2 participants, one acknowledgement",
  value: folding,
  unit: "ms",
  bar: { atMost: 1_000 }
})

const mergeTime = (request: (side: string) => (index: number) => string | null): number => {
  const common = fill(born(), 500, request("common"))
  const left = save(fill(common, 500, request("left")))
  let right = common
  for (let index = 0; index < 500; index += 1) {
    right = Result.getOrThrow(
      event(counter, right, { issuer: bob, event: 1, request: request("right")(index) })
    ).state
  }
  right = save(right, bob)
  const rounds = 50
  const elapsed = timed(() => {
    for (let index = 0; index < rounds; index += 1) {
      Result.getOrThrow(merge(counter, left, right))
    }
  })
  return elapsed / rounds
}
mergeTime(() => none)
say({
  what: "merge of 1,000 pending, half of it new",
  value: mergeTime(() => none),
  unit: "ms",
  bar: { atMost: 2 }
})
say({
  what: "  merge with request ids",
  value: mergeTime((side) => (index) => `${side}-${index}`),
  unit: "ms",
  bar: { atMost: 2 }
})

/** Of 1,003 pending the receiver lacks 3: what is sent, and the time to make and to merge it. */
const sparse = () => {
  const common = save(fill(born(), 1_000, none))
  const receiver = merged(born(), common)
  const sender = save(fill(common, 3, none))
  const told = report(receiver)
  const rounds = 100
  let sent = 0
  const elapsed = timed(() => {
    for (let index = 0; index < rounds; index += 1) {
      const made = Result.getOrThrow(diff(sender, told))
      sent = made.entries.length
      Result.getOrThrow(mergeDiff(counter, receiver, { from: alice, to: bob, diff: made }))
    }
  })
  return { sent, milliseconds: elapsed / rounds }
}
sparse()
const { milliseconds, sent } = sparse()
say({ what: "entries in a diff, 3 new of 1,003 pending", value: sent, unit: "entries" })
say({ what: "  made and merged", value: milliseconds, unit: "ms" })

const bytesPerPending = (request: (index: number) => string | null): number => {
  const count = 200_000
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  const state = save(fill(born(), count, request))
  globalThis.gc?.()
  const after = process.memoryUsage().heapUsed
  if (pendingCount(state) !== count) throw new Error("not pending")
  return (after - before) / count
}
if (globalThis.gc === undefined) console.log("memory: run with --expose-gc")
else {
  say({
    what: "memory of a pending event",
    value: bytesPerPending(none),
    unit: "bytes",
    bar: { atMost: 120 }
  })
}
