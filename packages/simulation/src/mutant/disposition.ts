/** Mistakes in accounting for parts of records, and in what sources are told. */
import type { CoreMutant } from "./core.ts"

/** Mistakes that runs of stages show. */
export const dispositionMutants: ReadonlyArray<CoreMutant> = [
  {
    name: "a record is done while one of its parts is not",
    profile: "stages",
    edits: [
      {
        file: "core/disposition/src/tracker.ts",
        from: "if (this.window.remaining[slot] === 0) return this.finish(ordinal, slot)",
        to: "if (this.window.remaining[slot]! <= 1) return this.finish(ordinal, slot)"
      }
    ]
  },
  {
    name: "a successor does not know which parts of a record are done",
    profile: "stages",
    edits: [
      {
        file: "core/disposition/src/tracker.ts",
        from: 'const known = status._tag === "Partial" ? status.finished : undefined',
        to: "const known = undefined as PartSetView | undefined"
      }
    ]
  },
  {
    name: "a second restart forgets what the first knew",
    profile: "stages",
    edits: [
      {
        file: "core/disposition/src/checkpoint.ts",
        from: "if (restored === undefined || highest === undefined || highest <= newest) {",
        to: "if (highest !== null) {"
      }
    ]
  },
  {
    name: "the parts of a record count as one item",
    profile: "stages",
    edits: [
      {
        file: "core/disposition/src/tracker.ts",
        from: "const refusal = this.refusal(bytes, parts ?? 1)",
        to: "const refusal = this.refusal(bytes, 1)"
      }
    ]
  },
  {
    name: "the source is told of what was read, not of what is checkpointed",
    profile: "stages",
    edits: [
      {
        file: "services/worker/src/checkpoints.ts",
        from: "yield* reader.acknowledge(checkpointed)",
        to: "yield* reader.acknowledge(tracker.newestPosition ?? checkpointed)"
      }
    ]
  },
  {
    name: "an acknowledgement that was not heard is not sent again",
    profile: "stages",
    edits: [
      {
        file: "services/worker/src/checkpoints.ts",
        from: "if (heard) run.acknowledged = checkpointed",
        to: "run.acknowledged = checkpointed"
      }
    ]
  },
  {
    name: "user records lose their explicit hash keys",
    profile: "workers",
    edits: [
      {
        file: "services/worker/src/aggregates.ts",
        from: "if (explicitHashKey !== undefined) own.push",
        to: "if (explicitHashKey === partitionKey) own.push"
      }
    ]
  }
]
