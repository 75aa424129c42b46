import { describe, expect, it } from "vitest"
import { free } from "./free.ts"
import type { JournalEntry } from "./journal-entry.ts"
import { mapEntries } from "./ordered-map.ts"
import { findRecord } from "./packed-tree.ts"
import { recover, replay, snapshotEntries } from "./recover.ts"
import { invariants } from "./invariants.ts"
import { setMode } from "./modes.ts"
import { Cluster, succeed } from "./testing/cluster.ts"

/** What is durable of a state, as the entries that say it. */
const durable = (entries: Iterable<JournalEntry>) => [...entries]

const lived = () => {
  const cluster = new Cluster()
  for (const name of ["a", "b", "c"]) cluster.addServer(`h${name}`, name)
  cluster.start()
  const fileId = cluster.file()
  const chunks = Array.from({ length: 30 }, () => cluster.write(["a", "b"], { fileId }))
  for (const { chunkId } of chunks.slice(0, 5)) cluster.write(["b", "c"], { fileId, chunkId })
  cluster.server("hc").alive = false
  cluster.rounds(1)
  const last = chunks.slice(-3)
  succeed(cluster.run((draft) => free(draft, { requestId: null, chunks: last })))
  succeed(cluster.run((draft) => setMode(draft, { deviceId: "b", desired: "frozen" })))
  cluster.store("a", { fileId, chunkId: 500, version: 4, length: 1, checksum: 1 })
  cluster.restartServer("ha")
  cluster.rounds(2)
  return { cluster, fileId, last }
}

describe("recovery", () => {
  it("metadata-I15: log, snapshot, and snapshot with a log after it give the same facts", () => {
    const { cluster } = lived()
    const { settings, now, journal } = cluster
    const facts = durable(snapshotEntries(recover(settings, journal, now)))
    const snapshot = durable(snapshotEntries(cluster.state))
    expect(snapshot.map((entry) => entry._tag)).toEqual(facts.map((entry) => entry._tag))
    expect(durable(snapshotEntries(recover(settings, snapshot, now)))).toEqual(snapshot)
    for (const cut of [0, 1, 7, journal.length - 1]) {
      const before = recover(settings, journal.slice(0, cut), now)
      const resumed = recover(settings, snapshotEntries(before), now)
      const after = replay(resumed, journal.slice(cut))
      expect(invariants(after)).toEqual([])
      expect(durable(snapshotEntries(after))).toEqual(facts)
    }
  })

  it("metadata-W38: a crash after any entry leaves a commit whole or not made", () => {
    const { cluster, fileId } = lived()
    const { settings, now, journal } = cluster
    const committed = new Map<number, JournalEntry>()
    for (let cut = 0; cut <= journal.length; cut++) {
      const entry = journal[cut - 1]
      if (entry?._tag === "Committed") committed.set(entry.chunkId, entry)
      if (entry?._tag === "Freed") committed.delete(entry.chunkId)
      const state = recover(settings, journal.slice(0, cut), now)
      expect(invariants(state)).toEqual([])
      expect(state.chunks.size).toBe(committed.size)
      for (const [chunkId, { _tag, ...record }] of [...committed] as ReadonlyArray<
        readonly [number, JournalEntry & { readonly _tag: "Committed" }]
      >) {
        expect(_tag).toBe("Committed")
        expect(findRecord(state.chunks, { fileId, chunkId })).toMatchObject(record)
      }
    }
  })

  it("replaying an entry again changes nothing, and older marks never lower newer ones", () => {
    const { cluster } = lived()
    const { settings, now, journal } = cluster
    const twice = journal.flatMap((entry) => [entry, entry])
    const once = recover(settings, journal, now)
    expect(durable(snapshotEntries(recover(settings, twice, now)))).toEqual(
      durable(snapshotEntries(once))
    )
    const marks = { _tag: "Marks", fileIdLimit: 1, versionLimit: 1 } as const
    expect(replay(once, [marks])).toMatchObject({
      fileIdLimit: once.fileIdLimit,
      nextVersion: once.versionLimit
    })
  })

  it("frozen devices, freed chunks, unknown copies and chunk numbers are kept", () => {
    const { cluster, fileId, last } = lived()
    const state = recover(cluster.settings, snapshotEntries(cluster.state), cluster.now)
    const devices = [...mapEntries(state.devices)].map(
      ([name, { desired }]) => `${name} ${desired}`
    )
    expect(devices).toEqual(["a normal", "b frozen", "c normal"])
    expect([...mapEntries(state.freed)].map(([key]) => key.chunkId)).toEqual(
      last.map(({ chunkId }) => chunkId)
    )
    expect(state.quarantine.size).toBe(1)
    cluster.state = state
    cluster.server("hc").alive = true
    cluster.start()
    const next = succeed(cluster.alloc(fileId)).chunkId
    expect(next).toBe(last.at(-1)!.chunkId + 1)
  })
})
