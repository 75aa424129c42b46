/**
 * What a replay into the embedded spool remembers between runs: one folder a target stream, because
 * the spool forgets its records once they are archived and cannot be asked what it was given.
 *
 *     intend {append id, records, newest ids with them} ─▶ append to the spool ─▶ intend the next
 *
 * 1. The intent is on the disk before the append is sent; so of all appends only the last can be in
 *    doubt, and sending it again under its id adds nothing.
 * 2. The file is replaced as a whole: after a crash it is the one before or the one behind.
 * 3. One process works on a target at a time.
 */
import { existsSync } from "node:fs"
import { mkdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { holdDirectory, replaceFile, type StoreRefused } from "@holdfast/adapter-file"
import { Effect, Option, Result, Schema, type Scope } from "effect"
import { type CommandFailure, failure, sentenceOf } from "@holdfast/process"

/** What the file says before the records. */
const Head = Schema.fromJsonString(
  Schema.Struct({
    version: Schema.Literal(1),
    appendId: Schema.String,
    /** The newest id of each shard of each replay, the latest of all last. */
    newest: Schema.Array(Schema.Tuple([Schema.String, Schema.String]))
  })
)
const decodeHead = Schema.decodeUnknownResult(Head)
const lineFeed = 10

/** An append that was sent, or is about to be. */
export interface Intent {
  readonly appendId: string
  readonly newest: ReadonlyArray<readonly [shard: string, id: string]>
  /** The records as they are sent. */
  readonly attachment: Uint8Array
}

/** The progress of one target. */
export interface ReplayJournal {
  readonly last: Option.Option<Intent>
  readonly intend: (intent: Intent) => Effect.Effect<void, CommandFailure>
}

/** Opens the progress of a target stream below a data directory; held until the scope closes. */
export const openReplayJournal = Effect.fnUntraced(function* (options: {
  readonly data: string
  readonly stream: string
}): Effect.fn.Return<ReplayJournal, CommandFailure, Scope.Scope> {
  const folder = join(options.data, "replays", encodeURIComponent(options.stream))
  const path = join(folder, "last-intent")
  yield* attempt(() => mkdir(folder, { recursive: true, mode: 0o700 }))
  yield* Effect.mapError(holdDirectory(folder), (refused) => notHeld(options.stream, refused))
  const last = yield* read(path)
  return { last, intend: (intent) => attempt(() => replaceFile(path, encode(intent))) }
})

const attempt = <A>(work: () => Promise<A>): Effect.Effect<A, CommandFailure> =>
  Effect.tryPromise({ try: work, catch: notKept })

const notKept = (cause: unknown): CommandFailure =>
  failure(`the progress of the replay cannot be kept: ${sentenceOf(cause)}`)

const notHeld = (stream: string, refused: StoreRefused): CommandFailure =>
  refused.code === "locked"
    ? failure(`another process replays into ${stream}; wait until it is done`)
    : notKept(refused)

const read = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<Option.Option<Intent>, CommandFailure> {
  if (!existsSync(path)) return Option.none()
  const bytes = yield* attempt(() => readFile(path))
  const end = bytes.indexOf(lineFeed)
  const head = decodeHead(bytes.subarray(0, Math.max(end, 0)).toString("utf8"))
  if (Result.isFailure(head)) {
    return yield* failure(
      `${path} does not say how far replays have come; remove it to begin them anew`
    )
  }
  return Option.some({ ...head.success, attachment: bytes.subarray(end + 1) })
})

const encode = ({ attachment, ...head }: Intent): Uint8Array =>
  Buffer.concat([Buffer.from(`${JSON.stringify({ version: 1, ...head })}\n`), attachment])
