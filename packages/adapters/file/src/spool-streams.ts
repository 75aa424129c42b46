/** An open spool and what its two ports share: the list of streams, and forgetting. */
import type { SpoolStatus } from "@holdfast/records"
import { Effect } from "effect"
import type { Environment } from "./environment.ts"
import { purgeRecords, readStream } from "./spool-tables.ts"
import type { SpoolTables } from "./spool-tables.ts"
import type { StoreRefused } from "./store-refused.ts"
import type { WakeUp } from "./wake-up.ts"

/** Records that one transaction forgets. */
const SLICE_RECORDS = 1_000

/** An open spool. */
export interface OpenSpool {
  readonly environment: Environment
  readonly tables: SpoolTables
  readonly bytesMax: bigint
  readonly keepsAcknowledged: boolean
  readonly wakeUp: WakeUp
}

/** Every stream and what it holds. */
export const listStreams = ({
  environment,
  tables
}: OpenSpool): Effect.Effect<ReadonlyArray<SpoolStatus>, StoreRefused> =>
  environment.read(() =>
    [...tables.streams.getKeys({})].flatMap((key) => {
      const stream = key.toString("utf8")
      const state = readStream(tables, stream)
      if (state === undefined) return []
      return [{ stream, first: state.first, last: state.last, bytes: Number(state.bytes) }]
    })
  )

/** Forgets a stream's records up to a position, some at a time. */
export const forgetUpTo = Effect.fnUntraced(function* (
  { environment, tables }: OpenSpool,
  stream: string,
  upTo: bigint
) {
  let isMore = true
  while (isMore) {
    isMore = yield* environment.commit({
      bytes: 0,
      freesRoom: true,
      run: () => purgeRecords(tables, { stream, upTo, limit: SLICE_RECORDS })
    })
  }
})
