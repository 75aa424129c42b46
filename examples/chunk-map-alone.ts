/**
 * The chunk map alone, as a planner: a thousand chunks of two copies are placed on imagined disks,
 * then the first disk is taken away. Prints what each disk holds, and how many chunks fall short.
 *
 *     node examples/chunk-map-alone.ts disk-a disk-b disk-c
 */
import * as chunkMap from "@holdfast/chunk-map"
import { Result } from "effect"

const disks = process.argv.slice(2).map((name) => chunkMap.DeviceId.make(name))
let state = chunkMap.emptyState({ ...chunkMap.defaultSettings, extensionMs: 0 })
const run = <A, E>(command: (draft: chunkMap.Draft) => Result.Result<A, E>): A => {
  const draft = chunkMap.openDraft(state, state.now + 100)
  const answer = Result.getOrThrow(command(draft))
  state = chunkMap.sealDraft(draft).state
  return answer
}
for (const deviceId of disks) {
  const host = { hostId: chunkMap.HostId.make(`at-${deviceId}`), incarnation: 1, url: "", rack: "" }
  const room = { capacity: 1e12, used: 0, available: 1e12, digest: chunkMap.emptyDigest }
  const news = { sequence: 1, outcomes: [], changes: [], goodbye: false }
  const beat = { ...host, ...news, devices: [{ deviceId, epoch: 1, ...room }] }
  const [wanted] = run((draft) => chunkMap.heartbeat(draft, beat)).reportsWanted
  const part = { lease: wanted?.lease ?? 0, reportId: "r", part: 0, last: true, copies: [] }
  run((draft) => chunkMap.takeReport(draft, { ...host, deviceId, epoch: 1, ...part }))
}
run((draft) => Result.succeed(chunkMap.tick(draft)))
const requestId = null
const { fileId } = run((draft) => chunkMap.createFile(draft, { requestId }))
for (let checksum = 1; checksum <= 1_000; checksum += 1) {
  const random = (checksum * 2_654_435_761) >>> 0
  const wanted = { fileId, chunkId: null, size: 1e6, want: 2, min: 2, exclude: [], random }
  const room = run((draft) => chunkMap.alloc(draft, { requestId, ...wanted }))
  const chunk = { fileId, chunkId: room.chunkId, version: room.version, length: 1e6, checksum }
  const receipts = room.devices.map((deviceId) => ({ deviceId, epoch: 1, chunk, proven: true }))
  const commit = { requestId, leaseId: room.leaseId, chunk, goal: 2, min: 2, receipts }
  run((draft) => chunkMap.publish(draft, commit))
}
const page = { after: null, limit: disks.length }
const { devices } = run((draft) => Result.succeed(chunkMap.listDevices(draft, page)))
for (const { copies, device } of devices) console.log(`${device.deviceId} holds ${copies}`)
const gone = { deviceId: disks[0] ?? "", desired: "removed" } as const
const { belowGoal } = run((draft) => chunkMap.setMode(draft, gone))
console.log(`without ${gone.deviceId} ${belowGoal} chunks are short of a copy`)
