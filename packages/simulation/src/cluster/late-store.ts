/**
 * The broker's store behind a network that may hold writes back: such a write fails for its sender
 * in time, and happens long after.
 */
import { KeyValueRefusal, type MemoryKeyValue } from "@holdfast/adapter-memory"
import { Effect } from "effect"
import type { SimulatedProcess } from "../time/simulated-process.ts"

/** A store, and how many of its next writes come late. */
export interface LateStore extends MemoryKeyValue {
  readonly holdBack: (late: { readonly count: number; readonly millis: number }) => void
}

/** Makes a store whose writes may come late; they travel in a process that never ends. */
export const lateStore = (
  store: MemoryKeyValue,
  world: SimulatedProcess,
  happened: (line: string) => void
): LateStore => {
  let late = { count: 0, millis: 0 }
  return {
    ...store,
    holdBack: (next) => {
      late = { ...next }
    },
    put: (options) =>
      Effect.suspend(() => {
        if (late.count === 0) return store.put(options)
        late.count -= 1
        const { key, value } = options
        const write = Effect.result(store.put({ ...options, value: value.slice() }))
        world.fork(
          Effect.sleep(late.millis).pipe(
            Effect.andThen(write),
            Effect.map(({ _tag }) => happened(`late write of ${key}: ${_tag}`))
          )
        )
        const message = "the write is held back on its way"
        return Effect.fail(new KeyValueRefusal({ code: "unavailable", message }))
      })
  }
}
