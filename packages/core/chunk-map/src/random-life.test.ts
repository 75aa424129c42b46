/** Random lives of a cluster: faults of every kind, then peace, and what must hold throughout. */
import fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { free } from "./free.ts"
import { locate } from "./locate.ts"
import { setMode } from "./modes.ts"
import { status } from "./status.ts"
import { advance, newCursor, rowRecord, seekFrom } from "./packed-tree.ts"
import { chunkOf, Cluster } from "./testing/cluster.ts"
import { nameOf } from "./testing/disks.ts"

const names = ["a", "b", "c", "d"]

type Step =
  | { readonly kind: "write"; readonly on: ReadonlyArray<string>; readonly goal: number }
  | { readonly kind: "rewrite"; readonly which: number; readonly on: ReadonlyArray<string> }
  | { readonly kind: "free"; readonly which: number }
  | { readonly kind: "kill" | "start" | "hold" | "release" | "lose-reply"; readonly host: string }
  | { readonly kind: "freeze" | "thaw" | "begin-report"; readonly host: string }
  | { readonly kind: "corrupt"; readonly host: string; readonly which: number }
  | { readonly kind: "rounds"; readonly count: number }
  | { readonly kind: "restart-service" }

const host = fc.constantFrom(...names)
const on = fc.subarray(names, { minLength: 1, maxLength: 3 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      on,
      goal: fc.integer({ min: 1, max: 3 })
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("rewrite" as const), which: fc.nat(30), on })
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("free" as const), which: fc.nat(30) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...([
          "kill",
          "start",
          "start",
          "hold",
          "release",
          "release",
          "lose-reply",
          "freeze",
          "thaw",
          "begin-report",
          "begin-report"
        ] as const)
      ),
      host
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("corrupt" as const), host, which: fc.nat(9) })
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("rounds" as const),
      count: fc.integer({ min: 1, max: 12 })
    })
  },
  { weight: 1, arbitrary: fc.constant({ kind: "restart-service" as const }) }
)

const setUp = () => {
  const cluster = new Cluster({
    staleAfterMs: 4_000,
    deadAfterMs: 12_000,
    copyTimeoutMs: 6_000,
    deletionTimeoutMs: 6_000,
    commandResendMs: 2_000,
    reportPartMax: 3,
    quarantineMs: 10_000,
    leaseMs: 20_000,
    safeModeThreshold: 0
  })
  for (const name of names) cluster.addServer(name, name)
  return cluster.start()
}

/** Good copies on disks of the committed version of each chunk, dead servers' disks included. */
const goodCopies = (cluster: Cluster): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  const cursor = newCursor()
  let here = seekFrom(cluster.state.chunks, { fileId: 0, chunkId: 0 }, cursor)
  while (here) {
    const record = rowRecord(cursor.words, cursor.offset)
    const good = names.filter(
      (name) => cluster.disk(name).copies.get(nameOf(record))?.checksum === record.checksum
    )
    found.set(nameOf(record), good.length)
    here = advance(cluster.state.chunks, cursor)
  }
  return found
}

const take = (cluster: Cluster, one: Step, damaged: Set<string>): void => {
  const committed = () => [...goodCopies(cluster).keys()].map(parse)
  switch (one.kind) {
    case "write":
    case "rewrite": {
      const known = committed()
      const again =
        one.kind === "rewrite" ? known[one.which % Math.max(1, known.length)] : undefined
      const fileId = again?.fileId ?? 1
      const chunkId = again === undefined ? {} : { chunkId: again.chunkId }
      const granted = cluster.alloc(fileId, { want: 1, ...chunkId })
      if (Result.isFailure(granted)) return
      const live = one.on.filter((name) => cluster.server(name).alive)
      for (const name of live) cluster.store(name, chunkOf(granted.success))
      const goal = one.kind === "write" ? one.goal : 2
      cluster.publish(granted.success, live, { goal })
      return
    }
    case "free": {
      const known = committed()
      const chunk = known[one.which % Math.max(1, known.length)]
      if (chunk !== undefined)
        cluster.run((draft) => free(draft, { requestId: null, chunks: [chunk] }))
      return
    }
    case "kill":
      cluster.server(one.host).alive = false
      return
    case "start":
      if (!cluster.server(one.host).alive) cluster.restartServer(one.host)
      return
    case "hold":
      cluster.server(one.host).holdCommands = true
      return
    case "release":
      release(cluster, one.host)
      return
    case "lose-reply":
      if (cluster.server(one.host).alive) cluster.sign(one.host)
      return
    case "begin-report":
      if (cluster.server(one.host).alive) cluster.beginReport(one.host)
      return
    case "freeze":
    case "thaw": {
      const desired = one.kind === "freeze" ? "frozen" : "normal"
      cluster.run((draft) => setMode(draft, { deviceId: one.host, desired }))
      return
    }
    case "corrupt": {
      const copies = [...cluster.disk(one.host).copies.values()]
      const copy = copies[one.which % Math.max(1, copies.length)]
      if (copy === undefined) return
      cluster.store(one.host, { ...copy, checksum: copy.checksum ^ 1 })
      damaged.add(nameOf(copy))
      const { epoch } = cluster.disk(one.host)
      const change = { _tag: "Bad", deviceId: one.host, epoch, chunk: copy } as const
      cluster.server(one.host).changes.push(change)
      return
    }
    case "rounds":
      cluster.rounds(one.count)
      return
    case "restart-service":
      cluster.restartService()
  }
}

/** Commands held back are carried out while they are young enough, as a chunk server does. */
const release = (cluster: Cluster, hostId: string): void => {
  const server = cluster.server(hostId)
  server.holdCommands = false
  const held = server.held.splice(0)
  if (server.alive) for (const command of held.slice(-1)) cluster.carryOut(server, command)
}

const parse = (name: string) => {
  const [chunk, version] = name.split("@")
  const [fileId, chunkId] = chunk!.split("/")
  return { fileId: Number(fileId), chunkId: Number(chunkId), version: Number(version) }
}

describe("random lives", () => {
  it("metadata-I1, metadata-I6, metadata-I11, metadata-I14: nothing lost, all mended in peace", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
        const cluster = setUp()
        cluster.file()
        const damaged = new Set<string>()
        for (const one of steps) {
          take(cluster, one, damaged)
          for (const [name, copies] of goodCopies(cluster)) {
            if (!damaged.has(name))
              expect([one.kind, name, copies > 0]).toEqual([one.kind, name, true])
          }
        }
        const before = [...goodCopies(cluster).keys()]
        cluster.restartService()
        expect([...goodCopies(cluster).keys()]).toEqual(before)
        for (const name of names) {
          if (!cluster.server(name).alive) cluster.restartServer(name)
          cluster.server(name).holdCommands = false
          cluster.run((draft) => setMode(draft, { deviceId: name, desired: "normal" }))
        }
        cluster.rounds(60)
        const { chunks, pending } = cluster.run(status)
        const lost = [...goodCopies(cluster)].filter(([, copies]) => copies === 0).length
        expect(chunks).toMatchObject({
          unknown: 0,
          belowGoal: 0,
          surplus: 0,
          atGoal: chunks.known - lost
        })
        expect(pending).toMatchObject({
          copies: 0,
          deletions: 0,
          reservations: 0,
          quarantined: 0,
          freed: 0
        })
        for (const name of before) expectServed(cluster, name)
      }),
      { numRuns: 120 }
    )
  }, 60_000)
})

/** What locate names holds the committed bytes. */
const expectServed = (cluster: Cluster, name: string): void => {
  const where = cluster.run((draft) => locate(draft, parse(name)))
  if (where._tag !== "Found") return
  for (const holder of where.holders) {
    const copy = cluster.disk(holder).copies.get(nameOf(where.record))
    expect([holder, copy?.checksum]).toEqual([holder, where.record.checksum])
  }
}
