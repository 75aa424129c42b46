/**
 * A Kinesis stream archived through the MultiLangDaemon protocol, all of it in processes: a fake of
 * Kinesis, a daemon of our own that reads it as the KCL does, and the worker as its child. The
 * stream holds aggregates of the KPL, its shard is split, a child is killed: each user record is in
 * the archive once.
 */
import { Aggregator } from "@holdfast/aggregate"
import { Option } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import {
  type StoredPlace,
  TestDaemon
} from "../../packages/adapters/multilang/src/testing/daemon.ts"
import { addArchive, type ArchiveServices, startArchiveServices } from "./archive-services.ts"
import {
  type KinesisShard,
  type KinesisStream,
  md5,
  type ShardFeed,
  startKinesis
} from "./kinesis-stream.ts"
import { eventually, holdfast, type Running, start } from "./process.ts"

let services: ArchiveServices
let kinesis: KinesisStream

const encoder = new TextEncoder()
const half = 2n ** 127n
const hashOf = (key: string): bigint =>
  BigInt(`0x${Buffer.from(md5(encoder.encode(key))).toString("hex")}`)

/** Keys of the lower and of the upper half: an aggregate must stay within its shard. */
const keys = Array.from({ length: 40 }, (_, at) => `key ${at}`)
const lower = keys.filter((key) => hashOf(key) < half).slice(0, 5)
const upper = keys.filter((key) => hashOf(key) > half).slice(0, 5)

/** Puts records `from` to `to`, each third of them an aggregate of five, and answers their data. */
const putAll = async (from: number, to: number): Promise<ReadonlyArray<string>> => {
  const put: Array<string> = []
  for (let at = from; at <= to; at++) {
    const side = at % 2 === 0 ? lower : upper
    const [first = "none"] = side
    if (at % 3 !== 0) {
      await kinesis.put({ data: encoder.encode(`record ${at}`), partitionKey: first })
      put.push(`record ${at}`)
      continue
    }
    const aggregator = new Aggregator({ md5, single: "aggregated" })
    for (const partitionKey of side) {
      const name = `record ${at} of ${partitionKey}`
      aggregator.add({ partitionKey, data: encoder.encode(name) })
      put.push(name)
    }
    const { data } = Option.getOrThrow(aggregator.finish())
    await kinesis.put({ data, partitionKey: "a", explicitHashKey: String(hashOf(first)) })
  }
  return put
}

const byText = (one: string, other: string): number => one.localeCompare(other)

interface Child {
  readonly process: Running
  readonly daemon: TestDaemon
}

/** A daemon that has the lease of a shard, and its child. */
const startChild = async (
  { ShardId }: KinesisShard,
  { records }: ShardFeed,
  checkpoint?: StoredPlace
): Promise<Child> => {
  const archiving = ["--multilang", "--archive", "clicks", "--checkpoint-interval-ms", "100"]
  const process = start(["worker", ...services.common, "--id", "kinesis", ...archiving])
  services.adopt(process)
  const { stdin, stdout } = process.process
  if (stdin === null || stdout === null) throw new Error("the child has no pipes")
  const daemon = new TestDaemon({
    shard: ShardId,
    records,
    pipes: { toChild: stdin, fromChild: stdout },
    ...(checkpoint === undefined ? {} : { checkpoint })
  })
  await daemon.initialize()
  return { process, daemon }
}

/** Delivers all that there is to read. */
const deliverAll = async ({ daemon }: Child, feed: ShardFeed): Promise<void> => {
  let before = -1
  while (feed.records.length > before) {
    before = feed.records.length
    await feed.poll()
    await daemon.deliver(50)
  }
  await daemon.deliver(1_000)
}

/** Empty batches until a checkpoint has come. */
const awaitCheckpoint = ({ daemon }: Child) =>
  eventually(
    "a checkpoint",
    async () => {
      await daemon.deliver(0)
      return daemon.checkpoint
    },
    60_000
  )

const leave = async ({ daemon, process }: Child): Promise<void> => {
  daemon.close()
  expect(await process.exited, process.stderr()).toBe(0)
  expect(daemon.stray).toEqual([])
}

beforeAll(async () => {
  ;[services, kinesis] = await Promise.all([startArchiveServices("kinesis"), startKinesis()])
  await addArchive(services, ["clicks", "--segment-age-ms", "300"])
}, 180_000)

afterAll(async () => {
  await services.stop()
  await kinesis.stop()
})

it("archives a stream through a kill, a split and a handover, each user record once", async () => {
  const put = [...(await putAll(1, 60))]
  const [parent] = await kinesis.shards()
  if (parent === undefined) throw new Error("the stream has no shard")

  const feed = await kinesis.read(parent)
  const first = await startChild(parent, feed)
  await deliverAll(first, feed)
  const checkpoint = await awaitCheckpoint(first)
  put.push(...(await putAll(61, 90)))
  await deliverAll(first, feed)
  first.process.kill("SIGKILL")
  await first.process.exited

  await kinesis.split(parent)
  put.push(...(await putAll(91, 150)))
  const second = await startChild(parent, feed, checkpoint)
  await eventually("the end of the shard", async () => (await feed.poll()) || undefined, 30_000)
  await deliverAll(second, feed)
  await second.daemon.shardEnded()
  expect(second.daemon.checkpoint).toBe("SHARD_END")
  await leave(second)

  const children = (await kinesis.shards()).filter(({ ShardId }) => ShardId !== parent.ShardId)
  expect(children).toHaveLength(2)
  for (const shard of children) {
    const ownFeed = await kinesis.read(shard)
    const owner = await startChild(shard, ownFeed)
    await deliverAll(owner, ownFeed)
    // A graceful handover: what was delivered is checkpointed, and nothing comes again.
    await owner.daemon.shutdownRequested()
    await owner.daemon.leaseLost()
    await leave(owner)
    const last = ownFeed.records.at(-1)
    expect(owner.daemon.checkpoint).toEqual([last?.sequenceNumber, last?.subSequenceNumber ?? 0])
    const next = await startChild(shard, ownFeed, owner.daemon.checkpoint)
    await deliverAll(next, ownFeed)
    expect(next.daemon.transcript.join("\n")).not.toContain('"action":"record"')
    await leave(next)
  }

  const read = await holdfast(["read", "clicks", ...services.common])
  expect(read.status, read.stderr).toBe(0)
  const lines = read.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  const names = (shards: ReadonlyArray<KinesisShard>) => shards.map(({ ShardId }) => ShardId)
  const archived: ReadonlyArray<string> = lines.map(({ data }) => data)
  expect(archived.toSorted(byText)).toEqual(put.toSorted(byText))
  expect(new Set(lines.map(({ shard }) => shard))).toEqual(new Set(names([parent, ...children])))
  const ofParent = lines.filter(({ shard }) => shard === parent.ShardId)
  expect(new Set(ofParent.map(({ subject }) => subject))).toEqual(new Set([...lower, ...upper]))
}, 240_000)
