/**
 * Size of the chunk map at ten million chunks of three replicas: heap and arrays together, of a
 * state that was recovered from its journal and to which every device has reported.
 *
 *   npm run bench -- --only chunk-map-size
 */
import { figuresOf } from "@holdfast/suites/figures"
import * as Result from "effect/Result"
import { openDraft, sealDraft, type Draft } from "./draft.ts"
import { heartbeat } from "./heartbeat.ts"
import { DeviceId, HostId, type ChunkCopy } from "./identity.ts"
import type { State } from "./model.ts"
import { recover } from "./recover.ts"
import { takeReport } from "./report.ts"
import { defaultSettings } from "./settings.ts"
import { status } from "./status.ts"

const say = figuresOf("chunk-map size")
const chunks = Number(process.argv[2] ?? 10_000_000)
const deviceCount = 12
const replicas = 3
const partMax = 10_000
const chunksOfFile = 1_000
const now = 1_000

const copyOf = (index: number): ChunkCopy => ({
  fileId: 1 + Math.floor(index / chunksOfFile),
  chunkId: index % chunksOfFile,
  version: index + 1,
  length: 1_000,
  checksum: index >>> 0
})

/** Which of the devices hold a chunk: neighbours, so that there are few sets. */
const isHeld = (index: number, device: number): boolean =>
  (device - (index % deviceCount) + deviceCount) % deviceCount < replicas

const entries = function* () {
  yield { _tag: "Marks", fileIdLimit: chunks + 10, versionLimit: chunks + 10 } as const
  for (let index = 0; index < chunks; index++) {
    yield { _tag: "Committed", ...copyOf(index), goal: replicas } as const
  }
}

const must = <A, E>(outcome: Result.Result<A, E>): A => {
  if (Result.isSuccess(outcome)) return outcome.success
  throw new Error(JSON.stringify(outcome.failure))
}

const step = <A>(state: State, body: (draft: Draft) => A): readonly [State, A] => {
  const draft = openDraft(state, now)
  const value = body(draft)
  return [sealDraft(draft).state, value]
}

const register = (state: State, device: number) => {
  const room = { capacity: 2 ** 50, used: 0, available: 2 ** 50 }
  const deviceId = DeviceId.make(`d${device}`)
  const digest = { low: 0, high: 0, count: 0 }
  const said = { deviceId, epoch: 1, ...room, digest }
  const who = { hostId: HostId.make(`h${device}`), incarnation: 1, url: "http://h", rack: "" }
  const beat = { ...who, sequence: 1, outcomes: [], changes: [], goodbye: false }
  return step(state, (draft) => must(heartbeat(draft, { ...beat, devices: [said] })))
}

/** Reports everything that a device holds, part by part. */
const report = (before: State, device: number): State => {
  const registered = register(before, device)
  let [state] = registered
  const lease = registered[1].reportsWanted[0]?.lease ?? 0
  let [part, copies]: [number, Array<ChunkCopy>] = [0, []]
  const send = (last: boolean): void => {
    const named = { deviceId: `d${device}`, epoch: 1, lease, reportId: "r", part, last, copies }
    const sender = { hostId: `h${device}`, incarnation: 1 }
    state = step(state, (draft) => must(takeReport(draft, { ...sender, ...named })))[0]
    part += 1
    copies = []
  }
  for (let index = 0; index < chunks; index++) {
    if (!isHeld(index, device)) continue
    copies.push(copyOf(index))
    if (copies.length === partMax) send(false)
  }
  send(true)
  return state
}

const collect: unknown = Reflect.get(globalThis, "gc")
const bytesUsed = (): number => {
  // The first collection frees the objects that hold arrays, another one the arrays.
  for (let round = 0; round < 3; round++) if (typeof collect === "function") collect()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const settings = { ...defaultSettings, reportsMax: deviceCount, safeModeThreshold: 0 }
const before = bytesUsed()
let state = recover(settings, entries(), now)
for (let device = 0; device < deviceCount; device++) state = report(state, device)
const bytes = (bytesUsed() - before) / chunks
const known = status(openDraft(state, now)).chunks
if (known.atGoal !== chunks) throw new Error(`${known.atGoal} of ${chunks} are at their goal`)
say({
  what: `memory a chunk, ${chunks.toLocaleString("en-US")} chunks of ${replicas} replicas`,
  value: bytes,
  unit: "bytes",
  bar: { atMost: 32 }
})
