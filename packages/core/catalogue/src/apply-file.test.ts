import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { applyEvent } from "./application.ts"
import type { CatalogueEvent, CatalogueOutput, CatalogueState } from "./events.ts"
import { fileLeftoversMax } from "./file-entry.ts"
import { invariants } from "./invariants.ts"
import { freeableFiles, namedFileOf, unfinishedFiles } from "./named-file.ts"

const name = "a/b.txt"
const begun = (fileId: number): CatalogueEvent => ({ _tag: "Begun", name, fileId })
const deleted = (fileId: number): CatalogueEvent => ({ _tag: "Deleted", name, fileId })
const givenUp = (fileId: number): CatalogueEvent => ({ _tag: "GivenUp", name, fileId })
const freed = (...fileIds: ReadonlyArray<number>): CatalogueEvent => ({
  _tag: "Freed",
  name,
  fileIds
})
const stored = (
  fileId: number,
  put: { readonly attempt?: number; readonly content?: number } = {}
): CatalogueEvent => ({
  _tag: "Stored",
  file: {
    name,
    fileId,
    bytes: 3,
    digest: new Uint8Array(32).fill(put.content ?? 0),
    chunks: [0],
    goal: 2,
    created: 0n,
    ...(put.attempt === undefined ? {} : { attempt: put.attempt })
  }
})
const ofAnArchive: CatalogueEvent = { _tag: "Removed", fileId: 1 }

/** What an answer says, in short: the ids to free, or its word. */
const short = (output: CatalogueOutput): string => {
  switch (output._tag) {
    case "Accepted": {
      const ids = [output.freeFile, ...(output.freeFiles ?? [])].flatMap((id) => id ?? [])
      return ids.length === 0 ? "accepted" : `free ${ids.join(" ")}`
    }
    case "Refused":
      return output.reason
    case "Unchanged":
    case "Covered":
      return output._tag
  }
}

const run = (events: ReadonlyArray<CatalogueEvent>) => {
  let state: CatalogueState = { _tag: "Empty" }
  const answers = events.map((event) => {
    const applied = applyEvent(event, state)
    state = applied.state
    expect(invariants(state)).toEqual([])
    return short(applied.output)
  })
  const named = namedFileOf(name, state)
  return {
    answers,
    file: named?.file?.fileId ?? 0,
    unfinished: named === undefined ? [] : unfinishedFiles(named),
    freeable: named === undefined ? [] : freeableFiles(named)
  }
}

describe("the events of a plain file", () => {
  it.each([
    [
      "a repeat changes nothing",
      [stored(5), stored(5), begun(5)],
      ["accepted", "Unchanged", "Unchanged"]
    ],
    [
      "the later file stays, the other one is freed",
      [stored(5), stored(6)],
      ["accepted", "free 5"]
    ],
    ["an earlier file comes too late", [stored(6), stored(4)], ["accepted", "free 4"]],
    [
      "what is deleted stays so, unless a later file comes",
      [stored(5), deleted(5), deleted(5), stored(5), freed(5), stored(9)],
      ["accepted", "free 5", "free 5", "free 5", "accepted", "accepted"]
    ],
    ["nothing is deleted where nothing is", [deleted(5)], ["not-found"]],
    ["an old deletion spares a later file", [stored(6), deleted(5)], ["accepted", "conflict"]],
    [
      "a deletion takes the puts under way",
      [stored(5), begun(7), begun(8), deleted(8)],
      ["accepted", "accepted", "accepted", "free 5 7 8"]
    ],
    [
      "a name with nothing but a put that did not end can be deleted",
      [begun(7), deleted(7), stored(7), freed(7), deleted(6)],
      ["accepted", "free 7", "free 7", "accepted", "not-found"]
    ],
    [
      "a file frees what did not end before it, but not what began after it",
      [begun(4), begun(6), begun(8), stored(6)],
      ["accepted", "accepted", "accepted", "free 4"]
    ],
    [
      "of two attempts at one file id the later one stays",
      [stored(5), stored(5, { attempt: 9, content: 1 }), stored(5, { content: 2 })],
      ["accepted", "accepted", "exists"]
    ],
    [
      "an earlier attempt with the same bytes has what it wanted",
      [stored(5, { attempt: 9 }), stored(5)],
      ["accepted", "Unchanged"]
    ],
    ["a put that begins too late is told so", [stored(6), begun(5)], ["accepted", "free 5"]],
    ["only what nothing refers to is freed", [begun(4), freed(4)], ["accepted", "Unchanged"]],
    [
      "puts that are given up are freed, the file and later puts stay",
      [stored(5), begun(7), begun(8), begun(9), givenUp(8), stored(9)],
      ["accepted", "accepted", "accepted", "accepted", "free 7 8", "free 5 7 8"]
    ],
    [
      "a put that was given up and ends comes too late",
      [stored(5), begun(7), givenUp(7), freed(7), stored(7), begun(7)],
      ["accepted", "accepted", "free 7", "accepted", "free 7", "Unchanged"]
    ],
    [
      "a put that ended is not given up, nor what was stored after it",
      [begun(7), stored(7), givenUp(7), stored(9), givenUp(8)],
      ["accepted", "accepted", "Unchanged", "free 7", "free 7"]
    ],
    [
      "to give up again frees again, or nothing",
      [begun(7), givenUp(7), givenUp(7), freed(7), givenUp(7), givenUp(3)],
      ["accepted", "free 7", "free 7", "accepted", "Unchanged", "Unchanged"]
    ],
    [
      "a file whose later puts were given up is deleted, and replaced, like others",
      [stored(5), begun(7), givenUp(7), deleted(5), begun(9), stored(9)],
      ["accepted", "accepted", "free 7", "free 5 7", "free 5 7", "free 5 7"]
    ],
    ["an entry of another kind is none", [stored(6), ofAnArchive], ["accepted", "wrong-partition"]]
  ] as const)("%s", (_, events, answers) => {
    expect(run(events).answers).toEqual(answers)
  })

  it("an id is known from its beginning until it is freed", () => {
    expect(run([begun(4)])).toMatchObject({ file: 0, unfinished: [4], freeable: [] })
    expect(run([begun(4), begun(6)])).toMatchObject({ unfinished: [6, 4] })
    const replaced = [begun(4), stored(4), begun(6), stored(6)]
    expect(run(replaced)).toMatchObject({ file: 6, unfinished: [], freeable: [4] })
    expect(run([...replaced, freed(4)])).toMatchObject({ file: 6, freeable: [] })
    expect(run([...replaced, deleted(6)])).toMatchObject({ file: 0, freeable: [4, 6] })
  })

  it("so many puts at most may be under way", () => {
    const begins = Array.from({ length: fileLeftoversMax + 1 }, (_, at) => begun(at + 1))
    expect(run(begins).answers.at(-1)).toBe("conflict")
    const after = [...begins, deleted(fileLeftoversMax), freed(1), begun(100)]
    expect(run(after)).toMatchObject({ file: 0, unfinished: [100] })
  })

  const fileId = fc.integer({ min: 1, max: 6 })
  const anyEvent = fc.oneof(
    fileId.map(begun),
    fc
      .tuple(fileId, fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 2 }))
      .map(([id, later, content]) => stored(id, { attempt: id + later * 10, content })),
    fileId.map(deleted),
    fileId.map(givenUp)
  )

  it("no entry refers to what an answer said to free; what is begun stays known until then", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 25 }), fc.boolean(), (events, isFreeing) => {
        let state: CatalogueState = { _tag: "Empty" }
        const toFree = new Set<number>()
        const known = new Set<number>()
        const step = (event: CatalogueEvent): CatalogueOutput => {
          const { output, state: next } = applyEvent(event, state)
          state = next
          return output
        }
        for (const event of events) {
          const fileBefore = namedFileOf(name, state)?.file
          const output = step(event)
          if (event._tag === "GivenUp") expect(namedFileOf(name, state)?.file).toEqual(fileBefore)
          if (event._tag === "Begun" && output._tag !== "Refused") known.add(event.fileId)
          if (output._tag !== "Accepted") continue
          const ids = [output.freeFile, ...(output.freeFiles ?? [])].flatMap((id) => id ?? [])
          for (const id of ids) toFree.add(id)
          if (isFreeing) step(freed(...ids))
        }
        expect(invariants(state)).toEqual([])
        const named = namedFileOf(name, state)
        if (named === undefined) return
        expect(toFree.has(named.file?.fileId ?? 0)).toBe(false)
        const remembered = [...named.leftovers, named.file?.fileId]
        for (const id of known) expect(toFree.has(id) || remembered.includes(id)).toBe(true)
        if (!isFreeing) return
        for (const id of freeableFiles(named)) expect(toFree.has(id)).toBe(false)
      })
    )
  })
})
