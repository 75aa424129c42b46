/** Dead letters of archives in the embedded spool, each archive's in the stream that it names. */
import { RecordSpool } from "@holdfast/records"
import { DeadLetters, putIntoSpool } from "@holdfast/service-worker"
import { Effect, Layer } from "effect"
import { makeArchiveDeadLetters } from "./archive-dead-letters.ts"

/** Dead letters as records of spooled streams. */
export const spoolDeadLetters = Layer.effect(
  DeadLetters,
  Effect.flatMap(RecordSpool, (spool) =>
    makeArchiveDeadLetters((stream, letter) => putIntoSpool(spool, stream, letter))
  )
)
