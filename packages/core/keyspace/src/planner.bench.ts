/** The planner with 100 and 1,000 members, beside sorting as many keys. */
import { figuresOf, type Figure } from "@holdfast/suites/figures"
import { Result } from "effect"
import { randomBytes } from "node:crypto"
import { distribute, keyFromBytes, PeerId, rebalance, serviceSet } from "./index.ts"

const say = figuresOf("keyspace")

const milliseconds = (run: () => void): number => {
  run()
  const start = performance.now()
  for (let round = 0; round < 3; round++) run()
  return (performance.now() - start) / 3
}

for (const [count, atMost] of [
  [100, 50],
  [1_000, 1_000]
] as const) {
  const members = Array.from({ length: count }, (_, n) => ({ peer: PeerId.make(`peer-${n}`) }))
  const more = [...members, { peer: PeerId.make("one-more") }]
  const current = Result.getOrThrow(distribute({ members, epoch: 1 }))
  const live = new Set(members.map(({ peer }) => peer))
  const keys = Array.from({ length: count }, () => keyFromBytes(randomBytes(32)))
  const baseline = milliseconds(() => void keys.toSorted())
  const sayTime = (figure: Omit<Figure, "unit">): void => {
    const what = `${figure.what}, ${count} peers`
    say({ ...figure, what, unit: "ms" })
    say({
      what: `  ${what}, against a sort`,
      value: figure.value / baseline,
      unit: "times"
    })
  }
  sayTime({
    what: "plan of a join",
    value: milliseconds(() => void rebalance({ current, members: more, epoch: 2 })),
    bar: { atMost }
  })
  const rest = members.slice(1)
  sayTime({
    what: "plan of an ejection",
    value: milliseconds(() => void rebalance({ current, members: rest, epoch: 2 })),
    bar: { atMost }
  })
  sayTime({
    what: "distribution",
    value: milliseconds(() => void distribute({ members, epoch: 1 })),
    bar: { atMost }
  })
  sayTime({
    what: "service set",
    value: milliseconds(() => void serviceSet({ distribution: current, live, random: 7 }))
  })
}
