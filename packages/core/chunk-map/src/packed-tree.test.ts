import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { compareChunks } from "./identity.ts"
import { TreeEdit } from "./packed-tree-edit.ts"
import {
  advance,
  emptyTree,
  findRecord,
  lastChunkId,
  newCursor,
  rowRecord,
  seekFrom,
  type ChunkRecord,
  type ReadableTree
} from "./packed-tree.ts"

const record = (fileId: number, chunkId: number, version = 1): ChunkRecord => ({
  fileId,
  chunkId,
  version,
  goal: 3,
  length: 4_294_967_295,
  checksum: 4_294_967_294,
  set: 268_435_455
})

const all = (tree: ReadableTree): ReadonlyArray<ChunkRecord> => {
  const records: Array<ChunkRecord> = []
  const cursor = newCursor()
  let here = seekFrom(tree, { fileId: 0, chunkId: 0 }, cursor)
  while (here) {
    records.push(rowRecord(cursor.words, cursor.offset))
    here = advance(tree, cursor)
  }
  return records
}

const build = (records: Iterable<ChunkRecord>, base: ReadableTree = emptyTree): ReadableTree => {
  const edit = new TreeEdit(base)
  for (const one of records) edit.put(one)
  return edit.seal()
}

const key = fc.record({
  fileId: fc.oneof(
    fc.integer({ min: 1, max: 40 }),
    fc.constantFrom(2 ** 32, 2 ** 32 + 1, 2 ** 48 - 1)
  ),
  chunkId: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(2 ** 31, 2 ** 32 - 1))
})
const change = fc.record({
  key,
  version: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(2 ** 40 + 3, 2 ** 48 - 1)),
  removes: fc.boolean()
})

describe("packed tree", () => {
  it("keeps every field at its limits", () => {
    const extreme = { ...record(2 ** 48 - 1, 2 ** 32 - 1, 2 ** 48 - 1), goal: 15 }
    expect(findRecord(build([extreme]), extreme)).toEqual(extreme)
  })

  it("finds every chunk of files of many leaves, with gaps and without, and none between", () => {
    const run = fc.record({
      gap: fc.constantFrom(0, 0, 1, 255, 256, 5_000),
      rows: fc.constantFrom(1, 100, 256, 700),
      isRemoved: fc.boolean()
    })
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 6 }), (runs) => {
        const edit = new TreeEdit(build([record(1, 7), record(3, 7)]))
        const there = new Set<number>()
        let next = 0
        for (const { gap, isRemoved, rows } of runs) {
          next += gap
          for (const end = next + rows; next < end; next++) {
            edit.put(record(2, next))
            if (isRemoved && next % 3 > 0) edit.remove(2, next)
            else there.add(next)
          }
        }
        const tree = edit.seal()
        for (let chunkId = 0; chunkId <= next; chunkId++) {
          const found = findRecord(tree, { fileId: 2, chunkId })
          expect(found?.chunkId).toBe(there.has(chunkId) ? chunkId : undefined)
        }
      }),
      { numRuns: 30 }
    )
  })

  it("equals a sorted map after any batches of edits, and old trees stay as they were", () => {
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 60 }), { maxLength: 6 }), (batches) => {
        let tree: ReadableTree = emptyTree
        const model = new Map<string, ChunkRecord>()
        for (const batch of batches) {
          const before = all(tree)
          const edit = new TreeEdit(tree)
          for (const { key: at, version, removes } of batch) {
            const name = `${at.fileId}/${at.chunkId}`
            if (removes) expect(edit.remove(at.fileId, at.chunkId)).toBe(model.delete(name))
            else {
              edit.put(record(at.fileId, at.chunkId, version))
              model.set(name, record(at.fileId, at.chunkId, version))
            }
            expect(findRecord(edit, at)).toEqual(model.get(name))
          }
          const next = edit.seal()
          expect(all(tree)).toEqual(before)
          tree = next
          expect(all(tree)).toEqual([...model.values()].sort(compareChunks))
          expect(tree.size).toBe(model.size)
        }
      }),
      { numRuns: 150 }
    )
  })

  it.each([
    ["rising", (index: number) => index],
    ["falling", (index: number) => 200_000 - index],
    ["scattered", (index: number) => (index * 7919) % 200_003]
  ])("splits leaves and branches for 150,000 chunks in %s order", (_name, place) => {
    const edit = new TreeEdit(emptyTree)
    for (let index = 0; index < 150_000; index++) edit.put(record(1 + place(index), 0))
    const tree = edit.seal()
    expect(tree.size).toBe(150_000)
    expect(tree.branches.length).toBeGreaterThan(1)
    const seen = all(tree)
    expect(seen).toHaveLength(150_000)
    expect(seen.every((one, at) => at === 0 || compareChunks(seen[at - 1]!, one) < 0)).toBe(true)
    const slack = tree.branches.flatMap((branch) => branch.leaves)
    expect(slack.every((leaf) => leaf.words.length === leaf.rows * 7)).toBe(true)
  })

  it("knows the last chunk of a file", () => {
    const tree = build([record(1, 0), record(1, 7), record(3, 2)])
    expect([1, 2, 3, 4].map((file) => lastChunkId(tree, file))).toEqual([7, -1, 2, -1])
    expect(lastChunkId(emptyTree, 1)).toBe(-1)
  })

  it("refuses an edit after it was sealed", () => {
    const edit = new TreeEdit(emptyTree)
    edit.put(record(1, 1))
    edit.seal()
    expect(() => edit.put(record(1, 2))).toThrow("sealed")
  })
})
