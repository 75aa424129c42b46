/**
 * What the tracker and the completion map cost, one line a figure.
 *
 *     node --conditions=@holdfast/source packages/core/disposition/src/tracker.bench.ts
 *
 * The baseline of the first figure is a Map from position to entry that knows no watermark.
 */
import { figuresOf } from "@holdfast/suites/figures"
import { checkpoint } from "./checkpoint.ts"
import { decodeMap } from "./map-decode.ts"
import { encodeMap } from "./map-encode.ts"
import { Tracker } from "./tracker.ts"
import type { Ordinal } from "./tracker-types.ts"

const limits = {
  records: 200_000,
  items: 1_000_000,
  bytes: Number.MAX_SAFE_INTEGER,
  span: 1_000_000,
  partsPerRecord: 1_000_000
}
const open = (): Tracker => new Tracker({ limits, epoch: 1, after: undefined })
const say = figuresOf("disposition")

let seed = 42
const random = (below: number): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}

const pairs = 5_000_000
const inFlight = 1_000
const positions = Array.from({ length: pairs }, (_, index) => BigInt(index))
const picks = Uint16Array.from({ length: pairs }, () => random(inFlight))

const runTracker = (): number => {
  const tracker = open()
  const held: Array<Ordinal> = []
  const started = performance.now()
  for (let index = 0; index < pairs; index++) {
    const admission = tracker.admit({ position: positions[index]!, bytes: 256, seenAt: index })
    if (admission._tag !== "Admitted") throw new Error(admission._tag)
    if (held.length < inFlight) {
      held.push(admission.ordinal)
      continue
    }
    const pick = picks[index]!
    tracker.complete(held[pick]!, 1)
    held[pick] = admission.ordinal
  }
  return pairs / (performance.now() - started) / 1000
}

const runBaseline = (): number => {
  const entries = new Map<bigint, { bytes: number; seenAt: number }>()
  const held: Array<bigint> = []
  const started = performance.now()
  for (let index = 0; index < pairs; index++) {
    const position = positions[index]!
    entries.set(position, { bytes: 256, seenAt: index })
    if (held.length < inFlight) {
      held.push(position)
      continue
    }
    const pick = picks[index]!
    entries.delete(held[pick]!)
    held[pick] = position
  }
  return pairs / (performance.now() - started) / 1000
}

runTracker()
const rate = Math.max(runTracker(), runTracker())
const baseline = Math.max(runBaseline(), runBaseline())
say({
  what: "admit and complete, 1,000 in flight",
  value: rate,
  unit: "million pairs a second",
  bar: { atLeast: 10 }
})
say({ what: "  against a Map without a watermark", value: rate / baseline, unit: "times" })

const shuffled = (count: number): ReadonlyArray<number> => {
  const order = Array.from({ length: count }, (_, index) => index)
  for (let index = count - 1; index > 0; index--) {
    const other = random(index + 1)
    const value = order[index]!
    order[index] = order[other]!
    order[other] = value
  }
  return order
}

const measureParts = (): number => {
  const tracker = open()
  const admission = tracker.admit({ position: 0n, bytes: 1, seenAt: 0 })
  if (admission._tag !== "Admitted") throw new Error(admission._tag)
  const order = shuffled(100_000)
  const started = performance.now()
  for (const index of order) {
    tracker.completePart(admission.ordinal, 1, { index, total: order.length })
  }
  if (!tracker.isEmpty) throw new Error("parts are missing")
  return performance.now() - started
}
const best = (measure: () => number): number =>
  Math.min(...Array.from({ length: 15 }, () => measure()))
say({
  what: "one record of 100,000 parts, random order",
  value: best(measureParts),
  unit: "ms",
  bar: { atMost: 50 }
})

const halfFinished = (): Tracker => {
  const tracker = open()
  for (let index = 0; index < 100_000; index++) {
    const admission = tracker.admit({ position: BigInt(index), bytes: 1, seenAt: 0 })
    if (admission._tag !== "Admitted") throw new Error(admission._tag)
    if (index > 0 && random(2) === 0) tracker.complete(admission.ordinal, 1)
  }
  return tracker
}
const spanTracker = halfFinished()
const encode = (): { readonly ms: number; readonly bytes: Uint8Array } => {
  const started = performance.now()
  const { bytes } = encodeMap(checkpoint(spanTracker).map)
  return { ms: performance.now() - started, bytes }
}
const encoded = { bytes: encode().bytes, ms: best(() => encode().ms) }
say({
  what: "map of a span of 100,000, half of it finished",
  value: encoded.bytes.length / 1024,
  unit: "KiB",
  bar: { atMost: 16 }
})
say({ what: "  encoded in", value: encoded.ms, unit: "ms", bar: { atMost: 5 } })
const decodeStarted = performance.now()
decodeMap(encoded.bytes, { base: undefined, newest: undefined })
say({ what: "  decoded in", value: performance.now() - decodeStarted, unit: "ms" })

const measureMemory = (): number => {
  const collect = globalThis.gc ?? ((): void => undefined)
  const count = 131_072
  collect()
  const before = process.memoryUsage()
  const tracker = open()
  for (let index = 0; index < count; index++) {
    tracker.admit({ position: positions[index]!, bytes: 1, seenAt: 0 })
  }
  collect()
  const after = process.memoryUsage()
  const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers
  if (tracker.isEmpty) throw new Error("nothing is in flight")
  return grown / count
}
say({
  what: "memory a record in flight",
  value: measureMemory(),
  unit: "bytes",
  bar: { atMost: 64 }
})
