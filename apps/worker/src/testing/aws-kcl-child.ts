/**
 * The child that the KCL's own library for Node makes (`aws-kcl`), in this process: a processor that
 * takes a batch and checkpoints it at the daemon's next action, as one does whose work goes on
 * behind the batch.
 */
import { createRequire } from "node:module"
import type { Readable, Writable } from "node:stream"

type Answered = (error?: string | null) => void

interface Checkpointer {
  /** Without a number: the end of what was delivered. */
  readonly checkpoint: {
    (sequenceNumber: string, done: Answered): void
    (done: Answered): void
  }
}

interface Input {
  readonly records?: ReadonlyArray<{ readonly sequenceNumber: string }>
  readonly checkpointer: Checkpointer
}

type Step = (input: Input, complete: () => void) => void

interface Processor {
  readonly initialize: Step
  readonly processRecords: Step
  readonly leaseLost: Step
  readonly shardEnded: Step
  readonly shutdownRequested: Step
}

/** The library has no types of its own. */
const makeChild: (
  processor: Processor,
  input: Readable,
  output: Writable,
  errors: Writable
) => { readonly run: () => void } = createRequire(import.meta.url)("aws-kcl")

/** Starts the library's child on a daemon's pipes. */
export const startLibraryChild = (pipes: {
  readonly input: Readable
  readonly output: Writable
}): void => {
  let finished: string | undefined
  let stored: string | undefined
  const answer: Step = (_, complete) => complete()
  /** Checkpoints what is finished; a store that is busy is asked again at the next action. */
  const save: Step = ({ checkpointer }, complete) => {
    if (finished === undefined || finished === stored) return complete()
    checkpointer.checkpoint(finished, (error) => {
      if (error !== "ThrottlingException") stored = finished
      complete()
    })
  }
  makeChild(
    {
      initialize: answer,
      processRecords: (input, complete) => {
        const last = input.records?.at(-1)
        if (last === undefined) return save(input, complete)
        finished = last.sequenceNumber
        complete()
      },
      leaseLost: answer,
      shutdownRequested: save,
      shardEnded: ({ checkpointer }, complete) => checkpointer.checkpoint(() => complete())
    },
    pipes.input,
    pipes.output,
    process.stderr
  ).run()
}
