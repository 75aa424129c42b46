/** The planner with 100 and 1,000 members, beside sorting as many keys. */
import { Result } from "effect"
import { randomBytes } from "node:crypto"
import { distribute, keyFromBytes, PeerId, rebalance, serviceSet } from "./index.ts"

const milliseconds = (run: () => void): number => {
  run()
  const start = performance.now()
  for (let round = 0; round < 3; round++) run()
  return (performance.now() - start) / 3
}

for (const [count, bar] of [
  [100, 50],
  [1_000, 1_000]
] as const) {
  const members = Array.from({ length: count }, (_, n) => ({ peer: PeerId.make(`peer-${n}`) }))
  const more = [...members, { peer: PeerId.make("one-more") }]
  const current = Result.getOrThrow(distribute({ members, epoch: 1 }))
  const live = new Set(members.map(({ peer }) => peer))
  const keys = Array.from({ length: count }, () => keyFromBytes(randomBytes(32)))
  const baseline = milliseconds(() => void keys.toSorted())
  const print = (name: string, figure: number, limit: string): void =>
    console.log(
      `${name}, ${count} peers\t${figure.toFixed(2)}\tms\tbar ${limit}\t${(figure / baseline).toFixed(0)} times a sort of as many keys`
    )
  print(
    "plan of a join",
    milliseconds(() => void rebalance({ current, members: more, epoch: 2 })),
    `${bar}`
  )
  const rest = members.slice(1)
  print(
    "plan of an ejection",
    milliseconds(() => void rebalance({ current, members: rest, epoch: 2 })),
    `${bar}`
  )
  print(
    "distribution",
    milliseconds(() => void distribute({ members, epoch: 1 })),
    `${bar}`
  )
  print(
    "service set",
    milliseconds(() => void serviceSet({ distribution: current, live, random: 7 })),
    "none"
  )
}
