/**
 * The accounting core alone, around a consumer that is not ours: records of a JetStream stream, ten
 * at a time, done in any order. What a small file says is done is not done again after a crash.
 *
 *     node examples/accounting-alone.ts nats://127.0.0.1:4222 ORDERS progress.json
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { setTimeout as work } from "node:timers/promises"
import { checkpoint, decodeMap, defaultLimits, encodeMap, Tracker } from "@holdfast/disposition"
import { DeliverPolicy, jetstream } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { Result } from "effect"

const [url = "", stream = "", file = ""] = process.argv.slice(2)
const stored = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { map: "" }
const after = stored.after === undefined ? undefined : BigInt(stored.after)
const map = decodeMap(Buffer.from(stored.map, "base64"), { base: after, newest: undefined })
const restored = stored.map === "" ? undefined : Result.getOrThrow(map)
const limits = { ...defaultLimits, records: 10 }
const tracker = new Tracker({ limits, epoch: 1, after, restored })

const save = (): void => {
  const { map: above, position } = checkpoint(tracker)
  const text = Buffer.from(encodeMap(above).bytes).toString("base64")
  writeFileSync(`${file}.new`, JSON.stringify({ after: position?.toString(), map: text }))
  renameSync(`${file}.new`, file)
}

const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: Number(after ?? 0) + 1 }
const consumer = await jetstream(await connect({ servers: url })).consumers.get(stream, start)
const working = new Set<Promise<void>>()
for await (const message of await consumer.consume()) {
  const record = { position: BigInt(message.seq), bytes: message.data.length, seenAt: 0 }
  let admission = tracker.admit(record)
  for (; admission._tag === "Refused"; admission = tracker.admit(record)) {
    await Promise.race(working)
  }
  if (admission._tag !== "Admitted") continue
  const { ordinal } = admission
  const one: Promise<void> = work(Math.random() * 20).then(() => {
    console.log(`done ${message.string()}`)
    tracker.complete(ordinal, 1)
    working.delete(one)
    save()
  })
  working.add(one)
}
