/**
 * A worker as the child of a daemon, a process of its own: a Kinesis shard is archived over real
 * NATS through a crash of the child, up to the shard's end, and read back exactly once.
 */
import { afterAll, beforeAll, expect, it } from "vitest"
import {
  type StoredPlace,
  TestDaemon
} from "../../packages/adapters/multilang/src/testing/daemon.ts"
import { addArchive, type ArchiveServices, startArchiveServices } from "./archive-services.ts"
import { eventually, holdfast, start } from "./process.ts"

let services: ArchiveServices

// Every third record of the producer is an aggregate, which the daemon has opened already.
const records = Array.from({ length: 900 }, (_, at) => {
  const [sequenceNumber, subSequenceNumber] = [1_000 + at - (at % 3), at % 3]
  return { sequenceNumber, subSequenceNumber, data: `record ${at}`, partitionKey: `k${at % 7}` }
})

const startChild = (checkpoint: StoredPlace | undefined) => {
  const archiving = ["--multilang", "--archive", "clicks", "--checkpoint-interval-ms", "200"]
  const child = start(["worker", ...services.common, "--id", "kinesis", ...archiving])
  services.adopt(child)
  const { stdin, stdout } = child.process
  if (stdin === null || stdout === null) throw new Error("the child has no pipes")
  const daemon = new TestDaemon({
    records,
    pipes: { toChild: stdin, fromChild: stdout },
    ...(checkpoint === undefined ? {} : { checkpoint })
  })
  return { child, daemon }
}

beforeAll(async () => {
  services = await startArchiveServices("multilang")
  await addArchive(services, ["clicks", "--segment-age-ms", "500"])
}, 180_000)

afterAll(() => services.stop(), 60_000)

it("worker-C16: archives a shard through a crash up to its end, and leaves with its input", async () => {
  const first = startChild(undefined)
  await first.daemon.initialize()
  await first.daemon.deliver(400)
  const checkpoint = await eventually(
    "a checkpoint",
    async () => {
      await first.daemon.deliver(10)
      return first.daemon.checkpoint
    },
    60_000
  )
  first.child.kill("SIGKILL")
  await first.child.exited

  const second = startChild(checkpoint)
  await second.daemon.initialize()
  await second.daemon.deliver(1_000)
  await second.daemon.shardEnded()
  expect(second.daemon.checkpoint).toBe("SHARD_END")
  second.daemon.close()
  expect(await second.child.exited).toBe(0)
  expect([...first.daemon.stray, ...second.daemon.stray]).toEqual([])

  const read = await holdfast(["read", "clicks", ...services.common])
  expect(read.status, read.stderr).toBe(0)
  const lines = read.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(lines.map(({ data }) => data)).toEqual(records.map(({ data }) => data))
  expect(new Set(lines.map(({ shard }) => shard))).toEqual(new Set(["shardId-000000000000"]))
  expect(lines[1]).toMatchObject({ position: String((1_000n << 32n) | 1n), subject: "k1" })
}, 180_000)
