/**
 * Messages drawn from a seed: ordinary records, and aggregates of the KPL with several user
 * records, with none, with a bit turned over, and within each other.
 */
import { createHash } from "node:crypto"
import { Aggregator, type NewUserRecord } from "@holdfast/aggregate"
import type { NewRecord } from "@holdfast/records"
import { Option } from "effect"
import type { RandomSource } from "../random-source.ts"
import type { Publication } from "./publications.ts"

const dataBytesMax = 300
const userDataBytesMax = 60
const hashKeyMax = 1_000_000_000
const encoder = new TextEncoder()
const md5 = (bytes: Uint8Array): Uint8Array =>
  Uint8Array.from(createHash("md5").update(bytes).digest())

const drawBytes = (random: RandomSource, bytesMax: number): Uint8Array => {
  const data = new Uint8Array(random.integer(0, bytesMax))
  for (let index = 0; index < data.length; index += 1) data[index] = random.integer(0, 255)
  return data
}

const drawPlain = (random: RandomSource, timestamp: bigint): NewRecord => {
  const data = drawBytes(random, dataBytesMax)
  const name = encoder.encode("trace")
  const value = encoder.encode(String(random.integer(0, 1_000_000)))
  return {
    timestamp,
    subject: encoder.encode(`subject.${random.integer(0, 4)}`),
    headers: random.chance(0.3) ? [[name, value]] : [],
    data
  }
}

/** A message without user records: it has one of the tables, and nothing else. */
const emptyAggregate = (): Uint8Array => {
  const message = Uint8Array.of(0x0a, 0x01, 0x61)
  return Uint8Array.from([0xf3, 0x89, 0x9a, 0xc2, ...message, ...md5(message)])
}

const seal = (records: ReadonlyArray<NewUserRecord>): Uint8Array => {
  const aggregator = new Aggregator({ md5, single: "aggregated" })
  for (const record of records) {
    const { _tag } = aggregator.add(record)
    if (_tag !== "Added") throw new Error(`a drawn aggregate has no room: ${_tag}`)
  }
  return Option.match(aggregator.finish(), { onNone: emptyAggregate, onSome: ({ data }) => data })
}

const drawUserRecord = (random: RandomSource): NewUserRecord => ({
  // Keys that look like integers, too: tables must keep the order in which they came.
  partitionKey: String(random.integer(1, 12)),
  explicitHashKey: random.chance(0.3) ? String(random.integer(0, hashKeyMax)) : undefined,
  data: random.chance(0.05)
    ? seal([{ partitionKey: "inner", data: drawBytes(random, userDataBytesMax) }])
    : drawBytes(random, userDataBytesMax)
})

const drawCount = (random: RandomSource): number => {
  const drawn = random.nextDoubleUnsafe()
  if (drawn < 0.05) return 0
  return drawn < 0.9 ? random.integer(1, 8) : random.integer(20, 50)
}

/** A user record as a worker hands it on. */
const asRecord = (message: NewRecord, user: NewUserRecord): NewRecord => {
  const { data, explicitHashKey, partitionKey } = user
  const headers = [
    ...message.headers,
    [encoder.encode("Kinesis-Partition-Key"), encoder.encode(partitionKey)] as const
  ]
  if (explicitHashKey !== undefined) {
    headers.push([encoder.encode("Kinesis-Explicit-Hash-Key"), encoder.encode(explicitHashKey)])
  }
  return { ...message, headers, data }
}

/** How messages are drawn. */
export interface DrawnMessages {
  readonly timestamp: bigint
  /** How many of them are aggregates. */
  readonly aggregates: number
  /** Whether whoever reads them opens aggregates. */
  readonly areOpened: boolean
}

/** Draws one message. */
export const drawMessage = (random: RandomSource, options: DrawnMessages): Publication => {
  const { aggregates, areOpened, timestamp } = options
  const message = drawPlain(random, timestamp)
  if (!random.chance(aggregates)) return { message, userRecords: undefined }
  const users = Array.from({ length: drawCount(random) }, () => drawUserRecord(random))
  const data = seal(users)
  if (random.chance(0.05)) {
    data[random.integer(0, data.length - 1)]! ^= 1 << random.integer(0, 7)
    return { message: { ...message, data }, userRecords: undefined }
  }
  const sealed = { ...message, data }
  return {
    message: sealed,
    userRecords: areOpened ? users.map((user) => asRecord(sealed, user)) : undefined
  }
}
