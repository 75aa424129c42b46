/** The library's child and ours, one script each: what they say to a daemon is the same. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  type DaemonOptions,
  TestDaemon
} from "../../../packages/adapters/multilang/src/testing/daemon.ts"
import { startLibraryChild } from "./testing/aws-kcl-child.ts"
import { numbered, startChild } from "./testing/child.ts"

type Script = (daemon: TestDaemon) => Promise<void>

/** Long enough for a child to finish what it was given, and to want a checkpoint of it. */
const settled = () => new Promise<void>((resolve) => setTimeout(resolve, 200))

/** What a child said, without the sub-sequence numbers, of which the library knows none. */
const saidIn = ({ transcript }: TestDaemon): ReadonlyArray<string> =>
  transcript.map((line) => line.replaceAll(/,"subSequenceNumber":(\d+|null)/g, ""))

const playWithLibrary = Effect.fnUntraced(function* (options: DaemonOptions, script: Script) {
  const daemon = new TestDaemon({ ...options, knowsSubSequences: false })
  startLibraryChild(daemon.childPipes)
  yield* Effect.promise(() => daemon.initialize())
  yield* Effect.promise(() => script(daemon))
  daemon.close()
  return daemon
})

const playWithOwn = Effect.fnUntraced(function* (options: DaemonOptions, script: Script) {
  const { close, daemon } = yield* startChild({ ...options, isPrompt: true })
  yield* Effect.promise(() => script(daemon))
  assert.isUndefined(yield* close)
  return daemon
})

describe("the same script, played to the library's child and to this one", () => {
  it.live.each<{
    readonly name: string
    readonly script: Script
    readonly errors?: ReadonlyArray<string>
    readonly stored: unknown
  }>([
    {
      name: "an empty batch",
      script: (daemon) => daemon.deliver(0),
      stored: undefined
    },
    {
      name: "a batch, and its checkpoint at the next action",
      script: async (daemon) => {
        await daemon.deliver(3)
        await settled()
        await daemon.deliver(0)
      },
      stored: [30, 0]
    },
    {
      name: "a checkpoint while the store is busy",
      errors: ["ThrottlingException"],
      script: async (daemon) => {
        await daemon.deliver(2)
        await settled()
        await daemon.deliver(0)
        // Above the delay after which a busy store is asked again.
        await new Promise((resolve) => setTimeout(resolve, 1_500))
        await daemon.deliver(0)
      },
      stored: [20, 0]
    },
    {
      name: "a shutdown that is requested",
      script: async (daemon) => {
        await daemon.deliver(4)
        await settled()
        await daemon.shutdownRequested()
      },
      stored: [40, 0]
    },
    {
      name: "a lost lease",
      script: async (daemon) => {
        await daemon.deliver(2)
        await settled()
        await daemon.leaseLost()
      },
      stored: undefined
    },
    {
      name: "a shard's end",
      script: async (daemon) => {
        await daemon.deliver(5)
        await settled()
        await daemon.shardEnded()
      },
      stored: "SHARD_END"
    }
  ])("$name: the transcripts are the same", ({ errors = [], script, stored }) =>
    Effect.gen(function* () {
      const options = { records: numbered(5), errors }
      const library = yield* playWithLibrary(options, script)
      const own = yield* playWithOwn(options, script)
      assert.deepStrictEqual(saidIn(own), saidIn(library))
      assert.deepStrictEqual([own.checkpoint, library.checkpoint], [stored, stored])
      assert.deepStrictEqual([own.stray, library.stray], [[], []])
    })
  )
})
