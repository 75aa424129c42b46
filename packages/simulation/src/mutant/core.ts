/**
 * Mistakes inside cores and shells, as a change of one piece of text of one source file. The
 * product has no hook for them: a loader hook of the hunt alone makes the change (`rewrite.ts`).
 */

import { dispositionMutants } from "./disposition.ts"
import { membershipMutants } from "./membership.ts"

/** A change of a source file as it is loaded. */
export interface SourceEdit {
  /** From `packages/` on. */
  readonly file: string
  /** Stands in the file exactly once; else the hunt dies. */
  readonly from: string
  readonly to: string
}

/** A mistake that is written into the sources; where a rule is kept in two places, into both. */
export interface CoreMutant {
  /** A few words, unique among all mutants. */
  readonly name: string
  readonly profile: string
  readonly edits: ReadonlyArray<SourceEdit>
}

const powerState: ReadonlyArray<CoreMutant> = [
  {
    name: "a merge of power states keeps the left event of two",
    profile: "peers",
    edits: [
      {
        file: "core/power-state/src/merge-entries.ts",
        from: "take(draft, other, NOWHERE, atRight++)",
        to: "one === null ? take(draft, other, NOWHERE, atRight++) : void atRight++"
      }
    ]
  },
  {
    name: "an acknowledgement is taken as of the newest version, not of the one named",
    profile: "peers",
    edits: [
      {
        file: "services/peer/src/replication-steps.ts",
        from: "const held = sent.acknowledge(holder)",
        to: "const held = (local ?? sent).acknowledge(holder)"
      }
    ]
  },
  {
    name: "of a short log the oldest requests are not searched",
    profile: "peers",
    edits: [
      {
        file: "core/power-state/src/request-log.ts",
        from: "while (index >= 0 && itemAt(seen, index).request !== request) index -= 1",
        to: "while (index >= 0 && itemAt(seen, index).request !== request) index -= 2"
      }
    ]
  }
]

const chunkMap: ReadonlyArray<CoreMutant> = [
  {
    name: "the deletion of a stale copy is forgotten",
    profile: "chunks",
    edits: [
      {
        file: "core/chunk-map/src/deletions.ts",
        from: "const key = copyKey(options.device, copy)",
        to: 'const key = copyKey(options.device, copy)\n  if (reason === "stale") return'
      }
    ]
  },
  {
    name: "a copy of an older version counts as one of the committed",
    profile: "chunks",
    edits: [
      {
        file: "core/chunk-map/src/merge.ts",
        from: "if (copy.version === version) return takeCurrent(draft, device, copy, arrival)",
        to: `if (copy.version <= version) {
    const length = rowLength(cursor.words, cursor.offset)
    const checksum = rowChecksum(cursor.words, cursor.offset)
    return takeCurrent(draft, device, { ...copy, version, length, checksum }, arrival)
  }`
      }
    ]
  },
  {
    name: "surplus is picked, and told, without counting what stays",
    profile: "chunks",
    edits: [
      {
        file: "core/chunk-map/src/surplus.ts",
        from: "while (assured.length > record.goal) {",
        to: "while (assured.length >= record.goal) {"
      },
      {
        file: "core/chunk-map/src/tell-deletions.ts",
        from: "return version === key.version && assured >= goal && !hasFuture(draft, key)",
        to: "return true"
      }
    ]
  },
  {
    name: "a device that is live elsewhere is taken over from its host",
    profile: "chunks",
    edits: [
      {
        file: "core/chunk-map/src/claim-device.ts",
        from: "if (elsewhere && (live || expected)) {",
        to: "if (elsewhere && expected && !live) {"
      }
    ]
  },
  {
    name: "chunk servers are told what to do in safe mode",
    profile: "chunks",
    edits: [
      {
        file: "core/chunk-map/src/heartbeat.ts",
        from: "if (!device.serving || inSafeMode(draft) || !draft.canWrite) continue",
        to: "if (!device.serving || !draft.canWrite) continue"
      }
    ]
  },
  {
    name: "unknown copies are deleted while devices are away",
    profile: "chunks",
    edits: [
      {
        file: "core/chunk-map/src/sweep-odd.ts",
        from: "inSafeMode(draft) || !knowledgeIsFull(draft)) return",
        to: "inSafeMode(draft)) return"
      }
    ]
  },
  {
    name: "a frozen device is given new chunks",
    profile: "chunks",
    edits: [
      {
        file: "core/chunk-map/src/devices.ts",
        from: 'device.liveness === "online" && device.desired === "normal"',
        to: 'device.liveness === "online"'
      }
    ]
  },
  {
    name: "room is given away that is reserved already",
    profile: "room",
    edits: [
      {
        file: "core/chunk-map/src/room.ts",
        from: "return free - kept - draft.figures.get(device.index, COMMITTED)",
        to: "return free - kept"
      }
    ]
  },
  {
    name: "a version may be committed that is older than the record",
    profile: "chunks",
    edits: [
      {
        file: "core/chunk-map/src/publish.ts",
        from: "if (record !== undefined && record.version >= chunk.version) {",
        to: "if (record !== undefined && record.version === chunk.version) {"
      }
    ]
  }
]

const archive: ReadonlyArray<CoreMutant> = [
  {
    name: "a checkpoint goes past a gap",
    profile: "archive",
    edits: [
      {
        file: "core/disposition/src/checkpoint.ts",
        from: "const position = tracker.lowWatermark",
        to: `const position =
    tracker.standing.finishedAbove > 0 ? tracker.newestPosition : tracker.lowWatermark`
      }
    ]
  },
  {
    name: "a claim lapses in a third of its term",
    profile: "workers",
    edits: [
      {
        file: "core/lease/src/observe.ts",
        from: "now - claim.changedAt >= termMs",
        to: "now - claim.changedAt >= termMs / 3"
      }
    ]
  },
  {
    name: "who takes a shard over keeps its epoch",
    profile: "workers",
    edits: [
      {
        file: "core/lease/src/ownership.ts",
        from: "epoch: claim.epoch + 1,",
        to: "epoch: claim.epoch,"
      }
    ]
  },
  {
    name: "of two segments from one position the shorter stays",
    profile: "workers",
    edits: [
      {
        file: "core/catalogue/src/apply-segment.ts",
        from: "return challenger.last > holder.last",
        to: "return challenger.last < holder.last"
      }
    ]
  },
  {
    name: "what a predecessor sealed is relied on unconfirmed",
    profile: "workers",
    edits: [
      {
        file: "services/archive/src/archive-pipeline.ts",
        from: "(segment) => Effect.map(confirm(segment), (isKept) => (isKept ? [segment] : [])),",
        to: "(segment) => Effect.succeed([segment]),"
      }
    ]
  }
]

const search: ReadonlyArray<CoreMutant> = [
  {
    name: "a cursor of the tag index is not strictly greater",
    profile: "peers",
    edits: [
      {
        file: "core/tag-index/src/cursor.ts",
        from: 'return order < 0 || (order === 0 && cursor.bound === "after")',
        to: "return order < 0"
      }
    ]
  },
  {
    name: "a merged page skips the record at which the limit cut it",
    profile: "peers",
    edits: [
      {
        file: "core/tag-index/src/merge.ts",
        from: "return { records: emitted, next: after(last) }",
        to: "return { records: emitted, next: after(record) }"
      }
    ]
  },
  {
    name: "a peer that hears nobody answers searches",
    profile: "peers",
    edits: [
      {
        file: "services/peer/src/completeness.ts",
        from: "unheard === 0 || unheard + gone < majorityOf(owners.length)",
        to: "true"
      }
    ]
  }
]

/** All of them. */
export const coreMutants: ReadonlyArray<CoreMutant> = [
  ...powerState,
  ...chunkMap,
  ...archive,
  ...search,
  ...membershipMutants,
  ...dispositionMutants
]
