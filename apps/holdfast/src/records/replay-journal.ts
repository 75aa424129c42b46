/**
 * What a replay into the embedded spool remembers between runs: one file a target stream, because
 * the spool forgets its records once they are archived and cannot be asked what it was given.
 *
 *     intend {append id, records, newest ids with them} ─▶ append to the spool ─▶ intend the next
 *
 * 1. The intent is on the disk before the append is sent; so of all appends only the last can be in
 *    doubt, and sending it again under its id adds nothing.
 * 2. The file is replaced as a whole: after a crash it is the one before or the one behind.
 * 3. One process works on a target at a time.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync
} from "node:fs"
import { join } from "node:path"
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

/** The file of one target. */
export interface ReplayJournal {
  readonly last: Option.Option<Intent>
  readonly intend: (intent: Intent) => Effect.Effect<void, CommandFailure>
}

/** Opens the file of a target stream below a data directory; held until the scope closes. */
export const openReplayJournal = Effect.fnUntraced(function* (options: {
  readonly data: string
  readonly stream: string
}): Effect.fn.Return<ReplayJournal, CommandFailure, Scope.Scope> {
  const folder = join(options.data, "replays")
  const path = join(folder, `${encodeURIComponent(options.stream)}.replay`)
  yield* attempt(() => mkdirSync(folder, { recursive: true, mode: 0o700 }))
  yield* Effect.acquireRelease(lock(`${path}.lock`), () =>
    Effect.sync(() => rmSync(`${path}.lock`, { force: true }))
  )
  const last = yield* read(path)
  return { last, intend: (intent) => attempt(() => replace(folder, path, intent)) }
})

const attempt = <A>(work: () => A): Effect.Effect<A, CommandFailure> =>
  Effect.try({
    try: work,
    catch: (thrown) => failure(`the progress of the replay cannot be kept: ${sentenceOf(thrown)}`)
  })

const read = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<Option.Option<Intent>, CommandFailure> {
  if (!existsSync(path)) return Option.none()
  const bytes = yield* attempt(() => readFileSync(path))
  const end = bytes.indexOf(lineFeed)
  const head = decodeHead(bytes.subarray(0, Math.max(end, 0)).toString("utf8"))
  if (Result.isFailure(head)) {
    return yield* failure(
      `${path} does not say how far replays have come; remove it to begin them anew`
    )
  }
  return Option.some({ ...head.success, attachment: bytes.subarray(end + 1) })
})

const replace = (folder: string, path: string, { attachment, ...head }: Intent): void => {
  const line = `${JSON.stringify({ version: 1, ...head })}\n`
  const file = openSync(`${path}.new`, "w", 0o600)
  try {
    writeSync(file, line)
    for (let at = 0; at < attachment.length;) at += writeSync(file, attachment, at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.new`, path)
  const directory = openSync(folder, "r")
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

/** Takes a lock file that names this process; one whose process is gone counts for nothing. */
const lock = (path: string): Effect.Effect<void, CommandFailure> =>
  Effect.suspend(() => {
    const owner = existsSync(path) ? Number(readFileSync(path, "utf8")) : 0
    if (owner > 0 && owner !== process.pid && isAlive(owner)) {
      return Effect.fail(
        failure(`process ${owner} replays into this stream; wait until it is done`)
      )
    }
    rmSync(path, { force: true })
    return attempt(() => {
      const file = openSync(path, "wx", 0o600)
      writeSync(file, String(process.pid))
      closeSync(file)
    })
  })

const isAlive = (id: number): boolean => {
  try {
    process.kill(id, 0)
    return true
  } catch {
    return false
  }
}
