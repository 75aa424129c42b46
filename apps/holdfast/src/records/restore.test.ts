import { type ArchiveEntry, type ArchiveOrigin, archiveSettingsDefault } from "@holdfast/catalogue"
import { describe, expect, it } from "vitest"
import { positionsOf } from "./restore.ts"

const archiveOf = (more: Partial<ArchiveOrigin>): ArchiveEntry => ({
  origin: { name: "orders", stream: "ORDERS", shards: [], fileId: 1, created: 0n, ...more },
  settings: archiveSettingsDefault,
  status: "active",
  revision: 0,
  rules: 0,
  rulesSince: {}
})

const totalsOf = (records: number) => ({
  segments: 1,
  records,
  rawBytes: 0,
  storedBytes: 0,
  timeMin: undefined,
  timeMax: undefined,
  shards: [{ shard: "orders", segments: 1, records, first: 3n, last: 7n }]
})

describe("the positions that a restored stream can be given again", () => {
  it("are the archive's, where it has a record for each", () => {
    expect(positionsOf({ archive: archiveOf({}), totals: totalsOf(5) })).toEqual({
      first: 3n,
      last: 7n
    })
    expect(positionsOf({ archive: archiveOf({}), totals: totalsOf(4) })).toBeUndefined()
  })

  it.each([{ filter: "orders.*" }, { aggregation: "kpl" as const }])(
    "are not, where a position may hold none or several: %j",
    (more) => {
      expect(positionsOf({ archive: archiveOf(more), totals: totalsOf(5) })).toBeUndefined()
    }
  )
})
