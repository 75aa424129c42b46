/** Compares what an archive gives back with what was published. */
import { eventually } from "../../../test/integration/process.ts"
import type { Site } from "./site.ts"
import { messageOf } from "./stream-load.ts"

interface RecordView {
  readonly position: string
  readonly subject: string
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly data: string
}

/** What was found: messages from one number up to another. */
export interface Checked {
  readonly from: number
  readonly records: number
}

interface ShardView {
  readonly shard: string
  readonly checkpoint?: string
}

/** Waits until an archive is finished up to a stream's position. */
export const archivedUpTo = (site: Site, archive: string, position: number): Promise<ShardView> =>
  eventually(
    `${archive} is archived up to ${position}`,
    async () => {
      const answer = (await site.attempt("shards", "--json")) ?? "[]"
      const shards: ReadonlyArray<ShardView> = JSON.parse(answer)
      return shards.find(
        ({ checkpoint, shard }) => shard === archive && Number(checkpoint) >= position
      )
    },
    180_000
  )

/** The records of an archive are the messages of a stretch of numbers, each once, in order. */
export const checkRead = async (
  site: Site,
  archive: string,
  options: { readonly prefix: string; readonly upTo: number }
): Promise<Checked> => {
  const lines = (await site.run("read", archive)).trimEnd().split("\n")
  let from = -1
  let next = -1
  for (const line of lines) {
    const record: RecordView = JSON.parse(line)
    const { index }: { readonly index: number } = JSON.parse(record.data)
    if (from < 0) from = index
    else if (index !== next) throw new Error(`${archive}: message ${index} where ${next} was due`)
    next = index + 1
    const wanted = messageOf(options.prefix, index)
    const kind = record.headers.find(([name]) => name === "Kind")?.[1]
    if (record.subject !== wanted.subject || record.data !== wanted.data || kind !== wanted.kind) {
      throw new Error(`${archive}: message ${index} came back as ${line}`)
    }
  }
  if (next !== options.upTo) {
    throw new Error(`${archive} ends before message ${next}, of ${options.upTo}`)
  }
  return { from, records: lines.length }
}
