/** Formats that are decoded from bytes at hand: segments, journals, states, frames, lines. */
import { createHash } from "node:crypto"
import { inflateSync } from "node:zlib"
import { Aggregator, deaggregator } from "@holdfast/aggregate"
import { makeCatalogue } from "@holdfast/catalogue"
import { decodeJournal, encodeJournal } from "@holdfast/chunk-map"
import { cataloguePlatform, crc32, segmentReading, segmentWriting } from "@holdfast/client"
import { decodeMap, encodeMap } from "@holdfast/disposition"
import { makeParticipant } from "@holdfast/power-state"
import {
  decodeSegment,
  noCompression,
  openSegment,
  SegmentBuilder,
  type SegmentRecord,
  verifySegment
} from "@holdfast/segment"
import { hostApplication } from "@holdfast/service-peer"
import {
  decodeRecordKey,
  decodeRecords,
  encodeRecordKey,
  encodeRecords,
  IndexRecord,
  PartitionKey,
  Tag
} from "@holdfast/tag-index"
import {
  decodeCopies,
  decodeFrame,
  decodeParts,
  decodeRecords as decodeRecordList,
  encodeCopies,
  encodeFrame,
  encodeParts,
  encodeRecords as encodeRecordList,
  ringOfOne,
  signCapability,
  verifyCapability
} from "@holdfast/wire"
import { Option, Result } from "effect"
import {
  parseHeaderBlock,
  encodeHeaderBlock
} from "../../../../packages/adapters/nats/src/header-block.ts"
import { LineSplitter } from "../../../../packages/adapters/multilang/src/line-splitter.ts"
import { parseLine } from "../../../../packages/adapters/multilang/src/messages.ts"
import { mutateBytes } from "../mutate-bytes.ts"
import type { Target } from "../target.ts"

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

/** A checksum that every byte string has: what lies behind the real one is reached, too. */
const anyChecksum = (): number => 0

const record = (index: number): SegmentRecord => ({
  position: BigInt(index * 3),
  part: index % 2,
  timestamp: BigInt(index) * 1_000_000n,
  subject: text(`orders.${index % 3}`),
  headers: [[text("Kind"), text(`k${index % 4}`)]],
  data: text(JSON.stringify({ index, text: "x".repeat(index % 50) }))
})

type Writing = ConstructorParameters<typeof SegmentBuilder>[0]["platform"]

const segmentOf = (platform: Writing, count: number): Uint8Array => {
  const builder = new SegmentBuilder({ platform })
  for (let index = 0; index < count; index += 1) Result.getOrThrow(builder.append(record(index)))
  return Result.getOrThrow(builder.seal()).bytes
}

const zstd = segmentWriting({ _tag: "Zstd", level: 3 })
const segmentSamples = [zstd, segmentWriting({ _tag: "None" })].flatMap((platform) =>
  [1, 400].map((count) => segmentOf(platform, count))
)
const uncheckedSamples = [zstd, { ...zstd, codec: noCompression }].flatMap((platform) =>
  [1, 40].map((count) => segmentOf({ ...platform, crc32: anyChecksum }, count))
)
const uncheckedReading = {
  ...segmentReading,
  platform: { ...segmentReading.platform, crc32: anyChecksum }
}

const readSegment = (bytes: Uint8Array, reading: typeof segmentReading): void => {
  decodeSegment(bytes, reading)
  verifySegment(bytes, reading)
  openSegment(bytes.subarray(-4_096), bytes.length, reading)
}

const journalEntries = [
  { _tag: "Marks", fileIdLimit: 65_537, versionLimit: 2 ** 40 },
  { _tag: "Committed", fileId: 7, chunkId: 1, version: 9, goal: 2, length: 5, checksum: 6 },
  { _tag: "Freed", fileId: 7, chunkId: 1, version: 9 },
  { _tag: "FileMark", fileId: 3, next: 2 ** 32 }
] as const
const journalSamples = [...encodeJournal(journalEntries, crc32)]
const uncheckedJournal = [...encodeJournal(journalEntries, anyChecksum)]

const md5 = (bytes: Uint8Array): Uint8Array => createHash("md5").update(bytes).digest()
const openAggregate = deaggregator({
  md5,
  privateFormats: {
    inflate: (deflated, maxOutputLength) => inflateSync(deflated, { maxOutputLength })
  }
})
const aggregateOf = (count: number): Uint8Array => {
  const aggregator = new Aggregator({ md5 })
  for (let index = 0; index < count; index += 1) {
    aggregator.add({ partitionKey: `k${index % 5}`, data: text(`record ${index}`) })
  }
  return Option.getOrThrow(aggregator.finish()).data
}
const aggregateSamples = [aggregateOf(1), aggregateOf(50)]
/** The digest made right again: the message behind it is reached. */
const resealAggregate = (bytes: Uint8Array): Uint8Array => {
  const body = bytes.subarray(4, Math.max(4, bytes.length - 16))
  return Buffer.concat([aggregateSamples[0]?.subarray(0, 4) ?? text(""), body, md5(body)])
}

const key = "5a".repeat(32)
const catalogue = hostApplication(makeCatalogue(cataloguePlatform))
const participants = ["p1", "p2"].map((peer) => makeParticipant(peer))
const replicaSamples = (): ReadonlyArray<Uint8Array> => {
  const born = catalogue.create({ key, epoch: 0, participants })
  const [issuer] = participants
  const events = [{ _tag: "Paused", fileId: 5 }]
  if (issuer === undefined) return [born.bytes()]
  const applied = born.apply({ issuer, events, request: "r1", pendingMax: 10 })
  return [born.bytes(), Result.getOrThrow(applied).replica.bytes()]
}
const stored = replicaSamples()
const wholeReplica = catalogue.create({ key, epoch: 0, participants })
const openReplica = (bytes: Uint8Array): void => {
  const decoded = catalogue.decode(bytes)
  if (Result.isFailure(decoded)) return
  decoded.success.tags()
  decoded.success.projected()
  decoded.success.invariants()
  wholeReplica.merge(decoded.success)
}

const indexRecords = ["a", "kind\u0000paid", "zz"].map((tag) =>
  IndexRecord.make({ tag: Tag.make(text(tag)), key: PartitionKey.make(key) })
)

const completion = encodeMap({
  base: 40n,
  claims: { _tag: "Runs", from: [50n, 70n], to: [60n, 99n] },
  partials: []
}).bytes

const copies = [1, 2, 3].map((fileId) => ({
  fileId,
  chunkId: 1,
  version: 4,
  length: 5,
  checksum: 6
}))
const capabilities = {
  mac: (body: string) => createHash("sha256").update(body).digest(),
  claims: {
    clusterId: "c",
    deviceId: "d",
    fileId: 1,
    chunkId: 2,
    version: 3,
    right: "read",
    expires: 100
  }
} as const
const { clusterId, chunkId, deviceId, fileId, right, version } = capabilities.claims
const wanted = { clusterId, chunkId, deviceId, fileId, right, version }

const daemonLines = [
  '{"action":"initialize","shardId":"s-1","sequenceNumber":"12","subSequenceNumber":0}',
  '{"action":"processRecords","records":[{"data":"YQ==","partitionKey":"k","sequenceNumber":"1"}]}',
  '{"action":"checkpoint","checkpoint":"12","error":null}',
  '{"action":"shutdown","reason":"TERMINATE"}'
].map((line) => text(`${line}\n`))

const readLines = (bytes: Uint8Array): void => {
  const cut = new LineSplitter({ bytesMax: 65_536 }).push(Buffer.from(bytes))
  if (cut._tag === "Lines") for (const line of cut.lines) parseLine(line)
}

const bytesTarget = (options: {
  readonly name: string
  readonly takes: string
  readonly samples: ReadonlyArray<Uint8Array>
  readonly open: (bytes: Uint8Array) => unknown
}): Target => ({
  name: options.name,
  takes: options.takes,
  run: (random) => options.open(mutateBytes(options.samples, random))
})

/** Everything that is decoded from bytes at hand. */
export const formatTargets: ReadonlyArray<Target> = [
  bytesTarget({
    name: "segment",
    takes: "segment files",
    samples: segmentSamples,
    open: (bytes) => readSegment(bytes, segmentReading)
  }),
  bytesTarget({
    name: "segment-unchecked",
    takes: "segment files whose checksums an enemy has made right",
    samples: uncheckedSamples,
    open: (bytes) => readSegment(bytes, uncheckedReading)
  }),
  bytesTarget({
    name: "journal-record",
    takes: "records of the metadata journal and of its snapshots",
    samples: journalSamples,
    open: (bytes) => decodeJournal(bytes, crc32)
  }),
  bytesTarget({
    name: "journal-record-unchecked",
    takes: "the same with checksums made right",
    samples: uncheckedJournal,
    open: (bytes) => decodeJournal(bytes, anyChecksum)
  }),
  bytesTarget({
    name: "stored-partition",
    takes: "partitions as peers store and send them",
    samples: stored,
    open: openReplica
  }),
  bytesTarget({
    name: "index-records",
    takes: "lists and keys of the tag index",
    samples: [encodeRecords(indexRecords), ...indexRecords.map(encodeRecordKey)],
    open: (bytes) => [decodeRecords(bytes), decodeRecordKey(bytes)]
  }),
  bytesTarget({
    name: "completion-map",
    takes: "maps of finished records in checkpoints",
    samples: [completion],
    open: (bytes) => decodeMap(bytes, { base: 40n, newest: 1_000n })
  }),
  bytesTarget({
    name: "aggregate",
    takes: "aggregated messages",
    samples: aggregateSamples,
    open: openAggregate
  }),
  bytesTarget({
    name: "aggregate-resealed",
    takes: "aggregated messages whose digest an enemy has made right",
    samples: aggregateSamples,
    open: (bytes) => openAggregate(resealAggregate(bytes))
  }),
  bytesTarget({
    name: "frame",
    takes: "frames, parts, lists of copies and of records on the wire",
    samples: [
      encodeFrame({ json: "{}", attachment: text("attached") }),
      encodeParts([text("one"), text("two")]),
      encodeCopies(copies),
      encodeRecordList([{ timestamp: 1n, subject: text("s"), headers: [], data: text("d") }])
    ],
    open: (bytes) => [
      decodeFrame(bytes),
      decodeParts(bytes),
      decodeCopies(bytes),
      decodeRecordList(bytes)
    ]
  }),
  bytesTarget({
    name: "capability",
    takes: "tokens of the data path",
    samples: [text(signCapability(capabilities.mac, capabilities.claims))],
    open: (bytes) =>
      verifyCapability({
        ring: ringOfOne(capabilities.mac),
        token: Buffer.from(bytes).toString("latin1"),
        wanted,
        nowSeconds: 1
      })
  }),
  bytesTarget({
    name: "nats-headers",
    takes: "header blocks of NATS messages",
    samples: [encodeHeaderBlock([[text("Kind"), text("paid")]])],
    open: parseHeaderBlock
  }),
  bytesTarget({
    name: "multilang",
    takes: "lines of the MultiLangDaemon protocol",
    samples: daemonLines,
    open: readLines
  })
]
