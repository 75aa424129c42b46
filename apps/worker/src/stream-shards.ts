/**
 * The shards of a pipeline of one's own: the streams that its workers were told, each a shard.
 *
 *     ORDERS                  the stream
 *     ORDERS=orders.eu.>      its records of these subjects
 */
import { listenFault } from "@holdfast/adapter-nats"
import { type CommandFailure, failure } from "@holdfast/process"
import { Effect } from "effect"
import type { ArchiveShard } from "./archive-shards.ts"

const streamName = /^[A-Za-z0-9_-]{1,128}$/

/** Reads `--stream` as it was typed, once for each shard of a group. */
export const parseStreamShards = (
  typed: ReadonlyArray<string>,
  { group, isAcknowledged }: { readonly group: string; readonly isAcknowledged: boolean }
): Effect.Effect<ReadonlyArray<ArchiveShard>, CommandFailure> =>
  Effect.gen(function* () {
    if (typed.length === 0) {
      return yield* failure("name the streams that the pipeline reads with --stream, once for each")
    }
    const parsed = yield* Effect.forEach(typed, (text) => parseOne(text, group))
    const shards = parsed.map((one) => ({ ...one, isAcknowledged }))
    const repeated = shards.find(({ shard }, at) => {
      return shards.findIndex((one) => one.shard === shard) < at
    })
    if (repeated === undefined) return shards
    return yield* failure(`--stream names "${repeated.stream}" twice; once is right`)
  })

const parseOne = Effect.fnUntraced(function* (
  text: string,
  group: string
): Effect.fn.Return<ArchiveShard, CommandFailure> {
  const at = text.indexOf("=")
  const stream = at < 0 ? text : text.slice(0, at)
  const filterSubject = at < 0 ? undefined : text.slice(at + 1)
  if (!streamName.test(stream)) {
    return yield* failure(
      `--stream is "${text}"; right would be a stream's name, such as ORDERS, or ORDERS=orders.eu.>`
    )
  }
  const fault = filterSubject === undefined ? undefined : listenFault(filterSubject)
  if (fault !== undefined) return yield* failure(`--stream is "${text}": ${fault}`)
  // Names of shards are unique in a cluster, so that `shards` can list those of all groups.
  const shard = `${group}:${text}`
  if (shard.length > 255) {
    return yield* failure(`--stream is "${text}", which is too long: 255 letters with the group`)
  }
  return { shard, stream, ...(filterSubject === undefined ? {} : { filterSubject }) }
})
