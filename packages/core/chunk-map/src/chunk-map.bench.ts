/**
 * Speed and size of the chunk map, one line a figure.
 * Times are CPU time of the process, so that other work on the machine does not change them much.
 *
 *   node --conditions=@holdfast/source packages/core/chunk-map/src/chunk-map.bench.ts [chunks]
 */
import { figuresOf } from "@holdfast/suites/figures"
import * as Result from "effect/Result"
import { alloc, createFile } from "./alloc.ts"
import { openDraft, sealDraft, type Draft } from "./draft.ts"
import { emptyState } from "./empty-state.ts"
import { heartbeat, type HeartbeatReply } from "./heartbeat.ts"
import { DeviceId, HostId, type ChunkCopy } from "./identity.ts"
import { locate } from "./locate.ts"
import type { Allocation, State } from "./model.ts"
import { publish } from "./publish.ts"
import { recover } from "./recover.ts"
import { takeReport } from "./report.ts"
import { defaultSettings } from "./settings.ts"
import { tick } from "./tick.ts"

const chunks = Number(process.argv[2] ?? 1_000_000)
const deviceCount = 12
const settings = {
  ...defaultSettings,
  extensionMs: 0,
  leasesMax: 10_000_000,
  requestsMax: 1_000,
  sweepChunks: 100_000
}
let now = 1_000

const say = figuresOf("chunk-map")
/** CPU time of this process in milliseconds: what the figures are per, whatever else runs. */
const clock = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
const devices = Array.from({ length: deviceCount }, (_one, index) => DeviceId.make(`d${index}`))

const step = <A>(state: State, body: (draft: Draft) => A): readonly [State, A] => {
  const draft = openDraft(state, now++)
  const value = body(draft)
  return [sealDraft(draft).state, value]
}

const must = <A, E>(outcome: Result.Result<A, E>): A => {
  if (Result.isSuccess(outcome)) return outcome.success
  throw new Error(JSON.stringify(outcome.failure))
}

const sign = (state: State, index: number): readonly [State, HeartbeatReply] =>
  step(state, (draft) =>
    must(
      heartbeat(draft, {
        hostId: HostId.make(`h${index}`),
        incarnation: 1,
        url: "http://h",
        rack: `r${index % 8}`,
        sequence: now,
        devices: [
          {
            deviceId: devices[index]!,
            epoch: 1,
            capacity: 2 ** 50,
            used: 0,
            available: 2 ** 50,
            digest: { low: 0, high: 0, count: 0 }
          }
        ],
        outcomes: [],
        changes: [],
        goodbye: false
      })
    )
  )

/** Sends a report in parts; says how long the longest part took. */
const report = (before: State, index: number, copies: ReadonlyArray<ChunkCopy>) => {
  let [state, reply] = sign(before, index)
  const lease = reply.reportsWanted[0]!.lease
  const partMax = 5_000
  const parts = Math.max(1, Math.ceil(copies.length / partMax))
  let longest = 0
  for (let part = 0; part < parts; part++) {
    const start = clock()
    const body = (draft: Draft) =>
      must(
        takeReport(draft, {
          hostId: `h${index}`,
          incarnation: 1,
          deviceId: devices[index]!,
          epoch: 1,
          lease,
          reportId: "r",
          part,
          last: part === parts - 1,
          copies: copies.slice(part * partMax, (part + 1) * partMax)
        })
      )
    ;[state] = step(state, body)
    longest = Math.max(longest, clock() - start)
  }
  return { state, longest }
}

let state = emptyState(settings)
for (let index = 0; index < deviceCount; index++) state = report(state, index, []).state
;[state] = step(state, tick)
let fileId = 0
;[state, fileId] = step(state, (draft) => must(createFile(draft, { requestId: null })).fileId)

// --- allocate and publish, in batches of 1,000 ---
const batch = 1_000
let allocMs = 0
let publishMs = 0
const published = Math.min(chunks, 1_000_000)
for (let from = 0; from < published; from += batch) {
  let granted: Array<Allocation> = []
  let start = clock()
  ;[state, granted] = step(state, (draft) =>
    Array.from({ length: batch }, (_one, index) =>
      must(
        alloc(draft, {
          requestId: null,
          random: (from + index) * 2654435761,
          fileId,
          chunkId: null,
          size: 1_000,
          want: 3,
          min: 1,
          exclude: []
        })
      )
    )
  )
  allocMs += clock() - start
  const commands = granted.map((allocation) => {
    const { chunkId, version, leaseId } = allocation
    const chunk = { fileId, chunkId, version, length: 1_000, checksum: 5 }
    const receipts = allocation.devices.map((deviceId) => ({
      deviceId,
      epoch: 1,
      chunk,
      proven: true
    }))
    return { requestId: null, leaseId, chunk, goal: 3, min: 1, receipts }
  })
  start = clock()
  ;[state] = step(state, (draft) => {
    for (const command of commands) must(publish(draft, command))
  })
  publishMs += clock() - start
}
say({ what: "alloc, batched", value: published / (allocMs / 1000), unit: "a second" })
say({
  what: "publish, batched",
  value: published / (publishMs / 1000),
  unit: "a second",
  bar: { atLeast: 1_000_000 }
})

// --- locate ---
const keys = Array.from({ length: 200_000 }, (_one, index) => ({
  fileId,
  chunkId: (index * 7919) % published
}))
let found = 0
const rounds = 10
let start = clock()
for (let round = 0; round < rounds; round++) {
  ;[state] = step(state, (draft) => {
    for (const key of keys) if (locate(draft, key)._tag === "Found") found++
  })
}
const locateRate = (rounds * keys.length) / ((clock() - start) / 1000)
const baseline = new Map(keys.map((key) => [`${key.fileId}/${key.chunkId}`, key]))
start = clock()
for (let round = 0; round < rounds; round++) {
  for (const key of keys) if (baseline.has(`${key.fileId}/${key.chunkId}`)) found++
}
const baselineRate = (rounds * keys.length) / ((clock() - start) / 1000)
if (found !== 2 * rounds * keys.length) throw new Error(`found ${found}`)
say({ what: "locate", value: locateRate, unit: "a second", bar: { atLeast: 2_000_000 } })
say({ what: "  against a Map of strings", value: locateRate / baselineRate, unit: "times" })

// --- the sweep over chunks that are as they should be ---
start = clock()
for (let round = 0; round < 10; round++) [state] = step(state, tick)
say({
  what: "sweep",
  value: (10 * settings.sweepChunks) / ((clock() - start) / 1000),
  unit: "chunks a second"
})

// --- size: `chunks` chunks of 3 replicas ---
state = emptyState(settings)
const copy = (index: number): ChunkCopy => ({
  fileId: 1 + Math.floor(index / 10),
  chunkId: index % 10,
  version: index + 1,
  length: 1_000,
  checksum: index
})
const entries = function* () {
  yield { _tag: "Marks", fileIdLimit: chunks + 10, versionLimit: chunks + 10 } as const
  for (let index = 0; index < chunks; index++)
    yield { _tag: "Committed", ...copy(index), goal: 3 } as const
}
const collect: unknown = Reflect.get(globalThis, "gc")
const settle = () => {
  if (typeof collect === "function") collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
const before = settle()
start = clock()
state = recover(settings, entries(), now)
say({
  what: "recover",
  value: chunks / ((clock() - start) / 1000),
  unit: "chunks a second"
})
for (let index = 0; index < deviceCount; index++) state = report(state, index, []).state
say({
  what: `memory a chunk, ${chunks.toLocaleString("en-US")} chunks`,
  value: (settle() - before) / chunks,
  unit: "bytes",
  bar: { atMost: 32 }
})

// --- a device report of a million chunks, in parts of 5,000 ---
const reported = Array.from({ length: Math.min(chunks, 1_000_000) }, (_one, index) => copy(index))
state = recover(settings, entries(), now)
start = clock()
const done = report(state, 0, reported)
const reportMs = clock() - start
say({
  what: `report of ${reported.length.toLocaleString("en-US")} chunks`,
  value: reportMs,
  unit: "ms",
  bar: { atMost: 1_000 }
})
say({ what: "  its longest part", value: done.longest, unit: "ms", bar: { atMost: 50 } })
