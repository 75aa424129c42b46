/**
 * Every operation of every service, asked with requests that begin sound and are then made hostile:
 * as JSON, as bytes, with attachments and headers that nobody sends.
 */
import {
  ChunkServerOperations,
  encodeFrame,
  headerNames,
  MetadataChunkServerOperations,
  MetadataOperations,
  type Operation,
  PeerMembershipOperations,
  PeerOperations,
  PeerReplicationOperations,
  SpoolOperations,
  subjectOf,
  WorkerOperations
} from "@holdfast/wire"
import { Arbitrary, Effect, Predicate, Schema } from "effect"
import { mutateBytes } from "../mutate-bytes.ts"
import { mutateJson } from "../mutate-json.ts"
import type { Random } from "../random.ts"
import type { LiveCluster } from "./up-process.ts"

type AnyOperation = Operation<unknown, unknown>

const isOperation = (value: unknown): value is AnyOperation =>
  Predicate.hasProperty(value, "service") &&
  Predicate.hasProperty(value, "name") &&
  Predicate.hasProperty(value, "request")

/** All operations that any service answers. */
export const operations: ReadonlyArray<AnyOperation> = [
  MetadataOperations,
  MetadataChunkServerOperations,
  PeerMembershipOperations,
  PeerOperations,
  PeerReplicationOperations,
  ChunkServerOperations,
  WorkerOperations,
  SpoolOperations
].flatMap((module) => Object.values(module).filter(isOperation))

const instances: Readonly<Record<AnyOperation["service"], ReadonlyArray<string>>> = {
  metadata: [],
  peer: ["peer-1", "peer-2"],
  "chunk-server": ["host-1", "host-2"],
  worker: ["worker-1"],
  spool: []
}

const samplesMax = 12
const deadlineMs = 2_000

/** Names that the cluster knows: with them a request gets further than its first check. */
const known: Readonly<Record<string, string>> = {
  application: "catalogue",
  clusterId: "holdfast",
  deviceId: "host-1-disk",
  hostId: "host-1",
  sender: "peer-2"
}

const lifelike = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(lifelike)
  if (!Predicate.isReadonlyObject(value)) return value
  const fields = Object.entries(value).map(([name, field]) => [
    name,
    known[name] ?? lifelike(field)
  ])
  return Object.fromEntries(fields)
}

/** Sound requests of an operation, as the JSON that goes over the wire. */
const samplesOf = (operation: AnyOperation): ReadonlyArray<unknown> => {
  const encode = Schema.encodeSync(Schema.toCodecJson(operation.request))
  const drawn = Arbitrary.sampleEffect(Arbitrary.schema(operation.request), {
    count: samplesMax,
    seed: 1
  })
  const strangers = Effect.runSync(drawn).map((value) => encode(value))
  return [...strangers, ...strangers.map(lifelike)]
}

/** Sound requests of every operation; made once. */
export const makeSamples = (): ReadonlyMap<AnyOperation, ReadonlyArray<unknown>> =>
  new Map(operations.map((one) => [one, samplesOf(one)]))

const hostileData = (sample: unknown, random: Random): Uint8Array => {
  const value = random.below(8) === 0 ? sample : mutateJson(sample, random)
  const json = JSON.stringify(value) ?? "null"
  const attachment = Uint8Array.from({ length: random.below(200) }, () => random.below(256))
  const frame = encodeFrame(random.below(2) === 0 ? { json } : { json, attachment })
  return random.below(3) === 0 ? mutateBytes([frame], random) : frame
}

const hostileHeaders = (random: Random): Readonly<Record<string, string>> => {
  const values = [
    "",
    "0",
    "-1",
    "1e999",
    "9".repeat(300),
    "peer-2",
    "\u00e9",
    "99999999999999999999"
  ]
  const names = Object.values(headerNames)
  const count = random.below(4) === 0 ? random.below(4) : 0
  return Object.fromEntries(
    Array.from({ length: count }, () => [random.pick(names), random.pick(values)])
  )
}

/** Sends one hostile message; ends when it is answered, or fails when it is not in time. */
export const sendHostileMessage = async (options: {
  readonly live: LiveCluster
  readonly samples: ReadonlyMap<AnyOperation, ReadonlyArray<unknown>>
  readonly random: Random
}): Promise<void> => {
  const { live, random, samples } = options
  const operation = random.pick(operations)
  const { name, service } = operation
  const instance = random.pick([undefined, ...instances[service]])
  const subject = subjectOf({
    cluster: live.cluster,
    service,
    operation: random.below(40) === 0 ? "hello" : name,
    ...(instance === undefined ? {} : { instance })
  })
  const data = hostileData(random.pick(samples.get(operation) ?? [{}]), random)
  const envelope = JSON.stringify({ subject, headers: hostileHeaders(random), deadlineMs })
  const path = random.below(10) === 0 ? "/v1/publish" : "/v1/request"
  const response = await fetch(`http://127.0.0.1:${live.loopback.port}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${live.loopback.token}` },
    body: Buffer.from(encodeFrame({ json: envelope, attachment: data })),
    signal: AbortSignal.timeout(5 * deadlineMs)
  })
  await response.arrayBuffer()
}
