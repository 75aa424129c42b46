/**
 * What a stage works on, against the checkpoint that its shard was opened from.
 *
 * | invariant | what must hold |
 * |---|---|
 * | finished-again | nothing comes again that the checkpoint claimed when the shard was opened: no record below it, none in its map, and no single part that its map names |
 */
import type { FinishedParts } from "./checkpoints.ts"
import type { Oracle } from "./oracle.ts"
import type { Report } from "../violation.ts"
import type { WorkedItem } from "../cluster/watch.ts"

const runOf = ({ epoch, shard }: Pick<WorkedItem, "epoch" | "shard">): string => `${shard} ${epoch}`

/** Judges what a stage begins with; `claimsOf` is what the checkpoint in the store says now. */
export const makeRepeatedWorkOracle = (options: {
  readonly report: Report
  readonly claimsOf: (shard: string) => FinishedParts
  /** The part of its message that an item belongs to; it is finished with its other items. */
  readonly partOf: (item: WorkedItem) => number
}): Oracle => {
  const openedWith = new Map<string, FinishedParts>()
  return {
    watch: {
      stageOpened: (shard, epoch) => {
        openedWith.set(runOf({ shard, epoch }), options.claimsOf(shard))
      },
      itemBegun: (item) => {
        const part = options.partOf(item)
        if (openedWith.get(runOf(item))?.(item.position, part) !== true) return
        const what = `part ${part} of record ${item.position} of ${item.shard}`
        options.report("finished-again", `${what} begins anew under epoch ${item.epoch}`)
      }
    }
  }
}
