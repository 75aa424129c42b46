/**
 * A Kinesis stream for tests, of the fake that `kinesis-local` is; and what the KCL makes of one of
 * its shards: records in order, aggregates opened by its rules.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { createRequire } from "node:module"
import { dirname } from "node:path"
import { deaggregator, hashRange, type Md5 } from "@holdfast/aggregate"
import { Result, Schema } from "effect"
import type { ScriptRecord } from "../../packages/adapters/multilang/src/testing/daemon.ts"
import { freePort } from "./nats-server.ts"

const Shard = Schema.Struct({
  ShardId: Schema.String,
  HashKeyRange: Schema.Struct({ StartingHashKey: Schema.String, EndingHashKey: Schema.String })
})
/** A shard as the stream describes it. */
export type KinesisShard = typeof Shard.Type

const Shards = Schema.Struct({ Shards: Schema.Array(Shard) })
const Iterator = Schema.Struct({ ShardIterator: Schema.String })
const Batch = Schema.Struct({
  Records: Schema.Array(
    Schema.Struct({
      Data: Schema.String,
      PartitionKey: Schema.String,
      SequenceNumber: Schema.String
    })
  ),
  NextShardIterator: Schema.NullOr(Schema.String)
})

/** The digest that aggregates are sealed by, and that keys are hashed by. */
export const md5: Md5 = (bytes) => createHash("md5").update(bytes).digest()

/** A running fake with one stream. */
export interface KinesisStream {
  readonly put: (record: {
    readonly data: Uint8Array
    readonly partitionKey: string
    readonly explicitHashKey?: string | undefined
  }) => Promise<void>
  readonly shards: () => Promise<ReadonlyArray<KinesisShard>>
  readonly split: (shard: KinesisShard) => Promise<void>
  readonly read: (shard: KinesisShard) => Promise<ShardFeed>
  readonly stop: () => Promise<void>
}

/** A shard as the KCL hands it to a daemon. */
export interface ShardFeed {
  /** Everything that was read so far; it grows. */
  readonly records: Array<ScriptRecord>
  /** Reads on; answers whether the shard has ended. */
  readonly poll: () => Promise<boolean>
}

const stream = "clicks"

/** Starts the fake and makes a stream of one shard. */
export const startKinesis = async (): Promise<KinesisStream> => {
  const port = await freePort()
  const main = createRequire(import.meta.url).resolve("kinesis-local")
  // It reads a file beside it from its working directory.
  const child: ChildProcess = spawn(process.execPath, [main], {
    cwd: dirname(main),
    stdio: "ignore",
    env: {
      ...process.env,
      KINESIS_MOCK_PLAIN_PORT: String(port),
      KINESIS_MOCK_TLS_PORT: String(await freePort())
    }
  })
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const call = async (operation: string, body: object): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      headers: {
        "Content-Type": "application/x-amz-json-1.1",
        "X-Amz-Target": `Kinesis_20131202.${operation}`,
        "X-Amz-Date": "20260101T000000Z",
        Authorization:
          "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/kinesis/aws4_request, SignedHeaders=host, Signature=x"
      },
      body: JSON.stringify({ StreamName: stream, ...body }),
      signal: AbortSignal.timeout(10_000)
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${operation}: ${text}`)
    return text === "" ? undefined : JSON.parse(text)
  }
  const eventually = async <A>(ask: () => Promise<A>, holds: (answer: A) => boolean) => {
    const until = performance.now() + 30_000
    for (;;) {
      const answer = await ask().catch((error: unknown) => {
        if (performance.now() > until) throw error
        return undefined
      })
      if (answer !== undefined && holds(answer)) return answer
      if (performance.now() > until) throw new Error("the stream is not as it was asked for")
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const shards = async () => Schema.decodeUnknownSync(Shards)(await call("ListShards", {})).Shards
  await eventually(
    () => call("CreateStream", { ShardCount: 1 }).then(() => true),
    () => true
  )
  await eventually(shards, (all) => all.length === 1)
  return {
    shards,
    put: async ({ data, explicitHashKey, partitionKey }) => {
      await call("PutRecord", {
        Data: Buffer.from(data).toString("base64"),
        PartitionKey: partitionKey,
        ...(explicitHashKey === undefined ? {} : { ExplicitHashKey: explicitHashKey })
      })
    },
    split: async ({ HashKeyRange, ShardId }) => {
      const middle =
        (BigInt(HashKeyRange.StartingHashKey) + BigInt(HashKeyRange.EndingHashKey)) / 2n + 1n
      await call("SplitShard", { ShardToSplit: ShardId, NewStartingHashKey: String(middle) })
      await eventually(shards, (all) => all.length === 3)
    },
    read: (shard) => readShard(shard, call),
    stop: async () => {
      child.kill("SIGKILL")
      await exited
    }
  }
}

const readShard = async (
  { HashKeyRange, ShardId }: KinesisShard,
  call: (operation: string, body: object) => Promise<unknown>
): Promise<ShardFeed> => {
  const range = hashRange({
    first: BigInt(HashKeyRange.StartingHashKey),
    last: BigInt(HashKeyRange.EndingHashKey)
  })
  const open = deaggregator({ md5, dropOutside: Result.getOrThrow(range) })
  const records: Array<ScriptRecord> = []
  const asked = { ShardId, ShardIteratorType: "TRIM_HORIZON" }
  let iterator: string | null = Schema.decodeUnknownSync(Iterator)(
    await call("GetShardIterator", asked)
  ).ShardIterator
  const poll = async (): Promise<boolean> => {
    if (iterator === null) return true
    const answer = await call("GetRecords", { ShardIterator: iterator, Limit: 100 })
    const { NextShardIterator, Records } = Schema.decodeUnknownSync(Batch)(answer)
    iterator = NextShardIterator
    for (const { Data, PartitionKey, SequenceNumber } of Records) {
      const data = Buffer.from(Data, "base64")
      const sequenceNumber = BigInt(SequenceNumber)
      const opened = open(data)
      switch (opened._tag) {
        case "Plain":
          records.push({ sequenceNumber, data, partitionKey: PartitionKey })
          break
        case "Aggregate":
          records.push(
            ...opened.records.map((one, subSequenceNumber) => {
              const { data: inner, partitionKey } = one
              return { sequenceNumber, subSequenceNumber, data: inner, partitionKey }
            })
          )
          break
        case "Dropped":
          throw new Error(`a user record of ${SequenceNumber} is outside of ${ShardId}`)
      }
    }
    return iterator === null
  }
  return { records, poll }
}
