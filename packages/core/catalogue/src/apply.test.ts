import { Schema } from "effect"
import fc from "fast-check"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import {
  applyEvent,
  type ArchiveOrigin,
  archiveSettingsDefault,
  CatalogueEvent,
  CatalogueState,
  invariants,
  isSameChunk,
  type SegmentChunk,
  type SegmentEntry
} from "./index.ts"

const chunk = (chunkId: number, fields: Partial<SegmentChunk> = {}): SegmentChunk => ({
  fileId: 1,
  chunkId,
  version: chunkId + 1,
  length: 50,
  checksum: 7,
  ...fields
})
const segment = (last: bigint, where: SegmentChunk): SegmentEntry => ({
  archive: "orders",
  shard: "ORDERS",
  first: 1n,
  last,
  complete: true,
  count: 10,
  rawBytes: 100,
  storedBytes: 50,
  timeMin: 1_000n,
  timeMax: 2_000n,
  chunk: where,
  digest: new Uint8Array(32),
  tags: [],
  rules: 0
})
const sealed = (last: bigint, where: SegmentChunk): CatalogueEvent => ({
  _tag: "Sealed",
  segment: segment(last, where)
})
const expired = (where: SegmentChunk): CatalogueEvent => ({
  _tag: "Expired",
  chunk: where,
  reason: "retention"
})
const settings = archiveSettingsDefault
const origin: ArchiveOrigin = { name: "orders", stream: "O", shards: [], fileId: 5, created: 0n }
const created = (fields: Partial<ArchiveOrigin> = {}): CatalogueEvent => ({
  _tag: "Created",
  origin: { ...origin, ...fields },
  settings
})
const empty = (): CatalogueState => ({ _tag: "Empty" })

/** Runs events and writes down each answer. */
const trace = (...events: ReadonlyArray<CatalogueEvent>) => {
  let state = empty()
  const answers = events.map((event) => {
    const applied = applyEvent(event, state)
    state = applied.state
    const { output } = applied
    switch (output._tag) {
      case "Accepted":
        return `accepted${output.free.map(({ chunkId }) => ` free ${chunkId}`).join("")}`
      case "Covered":
        return `covered by ${output.winner.chunkId} free ${output.free[0]?.chunkId}`
      case "Unchanged":
        return "unchanged"
      case "Refused":
        return output.reason
    }
  })
  return { answers, state }
}

describe("the events of a segment", () => {
  const table: ReadonlyArray<
    readonly [string, ReadonlyArray<CatalogueEvent>, ReadonlyArray<string>]
  > = [
    [
      "the same again changes nothing",
      [sealed(9n, chunk(1)), sealed(9n, chunk(1))],
      ["accepted", "unchanged"]
    ],
    [
      "a longer one wins and frees the shorter",
      [sealed(9n, chunk(1)), sealed(20n, chunk(2))],
      ["accepted", "accepted free 1"]
    ],
    [
      "a shorter one is covered and freed",
      [sealed(20n, chunk(2)), sealed(9n, chunk(1))],
      ["accepted", "covered by 2 free 1"]
    ],
    [
      "of equal ones the smaller chunk wins",
      [sealed(9n, chunk(2)), sealed(9n, chunk(1)), sealed(9n, chunk(2))],
      ["accepted", "accepted free 2", "covered by 1 free 2"]
    ],
    [
      "an expiry is answered the same way twice",
      [sealed(9n, chunk(1)), expired(chunk(1)), expired(chunk(1))],
      ["accepted", "accepted free 1", "accepted free 1"]
    ],
    [
      "what expired stays expired",
      [sealed(9n, chunk(1)), expired(chunk(1)), sealed(9n, chunk(1)), sealed(99n, chunk(2))],
      ["accepted", "accepted free 1", "unchanged", "covered by 1 free 2"]
    ],
    [
      "a later life of the archive begins anew",
      [sealed(9n, chunk(8)), expired(chunk(8)), sealed(5n, chunk(1, { fileId: 2 }))],
      ["accepted", "accepted free 8", "accepted"]
    ],
    ["nothing expires twice or unknown", [expired(chunk(1))], ["not-found"]],
    [
      "another chunk is not expired by mistake",
      [sealed(9n, chunk(1)), expired(chunk(2))],
      ["accepted", "conflict"]
    ],
    [
      "a replacement names what it replaces and holds no less",
      [
        sealed(9n, chunk(1)),
        { _tag: "Replaced", replaces: chunk(7), segment: segment(9n, chunk(2)) },
        { _tag: "Replaced", replaces: chunk(1), segment: segment(8n, chunk(2)) },
        { _tag: "Replaced", replaces: chunk(1), segment: segment(9n, chunk(2)) },
        { _tag: "Replaced", replaces: chunk(1), segment: segment(9n, chunk(2)) }
      ],
      ["accepted", "conflict", "conflict", "accepted free 1", "unchanged"]
    ],
    [
      "incomplete ones of other contents never stand for each other",
      [
        { _tag: "Sealed", segment: { ...segment(9n, chunk(1)), complete: false } },
        {
          _tag: "Sealed",
          segment: {
            ...segment(20n, chunk(2)),
            complete: false,
            digest: new Uint8Array(32).fill(1)
          }
        },
        sealed(20n, chunk(3))
      ],
      ["accepted", "wrong-partition", "wrong-partition"]
    ],
    [
      "events of an archive are not for it",
      [sealed(9n, chunk(1)), created(), { _tag: "Paused", fileId: 1 }],
      ["accepted", "wrong-partition", "wrong-partition"]
    ]
  ]
  it.each(table)("%s", (_, events, answers) => {
    expect(trace(...events).answers).toEqual(answers)
  })

  const attempt = fc
    .tuple(fc.bigInt(1n, 5n), fc.nat({ max: 4 }), fc.integer({ min: 1, max: 2 }))
    .map(([last, id, fileId]) => sealed(last, chunk(id, { fileId })))

  it("have the same winner in any order, and only losers are freed", () => {
    fc.assert(
      fc.property(
        fc.array(attempt, { minLength: 1, maxLength: 8 }),
        fc.func(fc.nat()),
        (all, by) => {
          const distinct = all.filter(
            (one, at) =>
              all.findIndex(
                (other) =>
                  one._tag === "Sealed" &&
                  other._tag === "Sealed" &&
                  isSameChunk(one.segment.chunk, other.segment.chunk)
              ) === at
          )
          const run = (events: ReadonlyArray<CatalogueEvent>) => {
            let state = empty()
            const freed: Array<SegmentChunk> = []
            for (const event of events) {
              const applied = applyEvent(event, state)
              state = applied.state
              const { output } = applied
              if (output._tag === "Accepted" || output._tag === "Covered")
                freed.push(...output.free)
              expect(invariants(state)).toEqual([])
            }
            if (state._tag !== "Segment") throw new Error("a segment was sealed")
            const { chunk } = state.segment
            expect(freed.some((one) => isSameChunk(one, chunk))).toBe(false)
            expect(freed.length).toBe(distinct.length - 1)
            return chunk
          }
          const shuffled = distinct.toSorted((left, right) => by(left) - by(right))
          expect(run(shuffled)).toEqual(run(distinct))
        }
      )
    )
  })
})

describe("the events of an archive", () => {
  const paused: CatalogueEvent = { _tag: "Paused", fileId: 5 }

  it("a stream's configuration is kept as it was last seen; of an earlier life it is refused", () => {
    const described = (configuration: string, fileId = 5): CatalogueEvent => ({
      _tag: "Described",
      fileId,
      configuration
    })
    const { answers, state } = trace(
      created({ streamConfiguration: "{}" }),
      described("{}"),
      described('{"max_age":1}'),
      described("{}", 4)
    )
    expect(answers).toEqual(["accepted", "unchanged", "accepted", "conflict"])
    expect(state._tag === "Archive" && state.archive).toMatchObject({
      origin: { streamConfiguration: '{"max_age":1}' },
      revision: 0
    })
  })
  const resumed: CatalogueEvent = { _tag: "Resumed", fileId: 5 }
  const removed: CatalogueEvent = { _tag: "Removed", fileId: 5 }
  const changed = (revision: number): CatalogueEvent => ({
    _tag: "Changed",
    fileId: 5,
    revision,
    settings: { ...settings, goal: 3 }
  })
  const table: ReadonlyArray<
    readonly [string, ReadonlyArray<CatalogueEvent>, ReadonlyArray<string>]
  > = [
    ["created twice is created once", [created(), created()], ["accepted", "unchanged"]],
    ["a name is taken once", [created(), created({ fileId: 6 })], ["accepted", "exists"]],
    [
      "a removed name can be taken by a later file only",
      [created(), removed, created({ fileId: 4 }), created({ fileId: 6 }), removed],
      ["accepted", "accepted", "exists", "accepted", "conflict"]
    ],
    [
      "the second of two changes from one revision is refused",
      [created(), changed(0), changed(0), changed(1)],
      ["accepted", "accepted", "conflict", "accepted"]
    ],
    [
      "paused and resumed, each once",
      [created(), paused, paused, resumed, resumed],
      ["accepted", "accepted", "unchanged", "accepted", "unchanged"]
    ],
    [
      "removed is the end of it",
      [created(), removed, removed, paused, changed(0)],
      ["accepted", "accepted", "unchanged", "removed", "removed"]
    ],
    ["nothing before it is created", [paused, changed(0)], ["not-found", "not-found"]],
    [
      "events of a segment are not for it",
      [created(), sealed(9n, chunk(1)), expired(chunk(1))],
      ["accepted", "wrong-partition", "wrong-partition"]
    ]
  ]
  it.each(table)("%s", (_, events, answers) => {
    const { answers: given, state } = trace(...events)
    expect(given).toEqual(answers)
    expect(invariants(state)).toEqual([])
  })

  it("say since which count of rules each rule stands", () => {
    const rule = (name: string, token: number) =>
      ({ name, source: { _tag: "Subject", token }, order: { _tag: "Text" } }) as const
    const change = (revision: number, tags: ReadonlyArray<ReturnType<typeof rule>>) =>
      ({ _tag: "Changed", fileId: 5, revision, settings: { ...settings, tags } }) as const
    const { state } = trace(
      created(),
      change(0, [rule("a", 1)]),
      change(1, [rule("a", 1)]),
      change(2, [rule("a", 1), rule("b", 2)]),
      change(3, [rule("a", 9), rule("b", 2)])
    )
    expect(state).toMatchObject({ archive: { rules: 3, rulesSince: { a: 3, b: 2 }, revision: 4 } })
  })
})

describe("the codec", () => {
  const json = Schema.fromJsonString(Schema.toCodecJson(CatalogueState))
  const golden = readFileSync(new URL("./golden/state-version-1.ndjson", import.meta.url), "utf8")
    .trim()
    .split("\n")
  it.each(golden)("version 1 is read and written as it was: %s", (line) => {
    const state = Schema.decodeUnknownSync(json)(line)
    expect(invariants(state)).toEqual([])
    expect(JSON.parse(Schema.encodeSync(json)(state))).toEqual(JSON.parse(line))
  })

  it("refuses an event whose bounds are the wrong way round", () => {
    const event = { ...sealed(9n, chunk(1)), segment: segment(0n, chunk(1)) }
    expect(Schema.decodeUnknownResult(CatalogueEvent)(event)._tag).toBe("Failure")
  })
})
