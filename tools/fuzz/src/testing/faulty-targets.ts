/** Targets with the faults that the fuzz is there to find. */
import type { Target } from "../target.ts"

/** One for each kind of fault, and one without. */
export const targets: ReadonlyArray<Target> = [
  { name: "sound", takes: "nothing", run: (random) => random.below(10) },
  {
    name: "throws",
    takes: "nothing",
    run: (random) => {
      if (random.below(50) === 7) throw new Error("thrown on purpose")
    }
  },
  {
    name: "hangs",
    takes: "nothing",
    run: () => {
      for (;;) Math.sqrt(2)
    }
  },
  { name: "waits", takes: "nothing", run: () => new Promise(() => setInterval(Date.now, 1_000)) },
  { name: "grows", takes: "nothing", run: () => new Uint8Array(200 * 1024 * 1024) },
  {
    name: "overflows",
    takes: "nothing",
    run: () => {
      const grown: Array<ReadonlyArray<number>> = []
      for (;;) grown.push(Array.from({ length: 100_000 }, () => 0.5))
    }
  }
]
