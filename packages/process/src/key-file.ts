/**
 * The file of the cluster's keys: secrets of 32 bytes that the metadata service and the chunk
 * servers share, each as 64 hex digits on a line of its own, readable by the file's owner only.
 *
 *     first line     signs capabilities and receipts, and verifies them
 *     other lines    verify
 *
 * A key is changed in three steps, each taken on every host before the next one: the new key is
 * added last, it is promoted to the first line, the others are retired. So whatever is signed is
 * verified everywhere at any moment. Each step replaces the file durably, or not at all.
 */
import { hash, randomBytes } from "node:crypto"
import { open, readFile, rename, rm, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect, Predicate, Redacted } from "effect"
import { type CommandFailure, failure } from "./command-failure.ts"

/** A secret of the cluster. */
export type ClusterKey = Redacted.Redacted<Uint8Array>

/** Keys in one file at most: each costs a hash for every token that no earlier one has signed. */
export const clusterKeysMax = 4

const othersMayRead = 0o077
const ownerOnly = 0o600
const keyPattern = /^[0-9a-f]{64}$/i

const linesOf = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")

const readLines = Effect.fnUntraced(function* (
  file: string
): Effect.fn.Return<ReadonlyArray<string>, CommandFailure> {
  const { mode } = yield* attempt(file, () => stat(file))
  if ((mode & othersMayRead) !== 0) {
    return yield* failure(`the key file ${file} may be read by others; run: chmod 600 ${file}`)
  }
  const lines = linesOf(yield* attempt(file, () => readFile(file, "utf8")))
  if (lines.length === 0 || !lines.every((line) => keyPattern.test(line))) {
    return yield* failure(
      `the key file ${file} must hold 64 hex digits a line; make one with: openssl rand -hex 32`
    )
  }
  if (lines.length > clusterKeysMax) {
    return yield* failure(
      `the key file ${file} holds more than ${clusterKeysMax} keys; retire some`
    )
  }
  return lines
})

/** Reads the keys; a missing, malformed or readable-by-others file is refused with what to do. */
export const readClusterKeys = (
  file: string
): Effect.Effect<ReadonlyArray<ClusterKey>, CommandFailure> =>
  Effect.map(readLines(file), (lines) =>
    lines.map((line) => Redacted.make(new Uint8Array(Buffer.from(line, "hex"))))
  )

/** Eight hex digits by which people tell keys apart; they say nothing of the key. */
export const fingerprintOf = (key: ClusterKey): string =>
  hash("sha256", Redacted.value(key)).slice(0, 8)

/** Makes a new key file; one that exists is left as it is. */
export const createClusterKey = (file: string): Effect.Effect<void, CommandFailure> =>
  Effect.callback<void, CommandFailure>((resume) => {
    writeNew(file, [newKey()]).then(
      () => resume(Effect.void),
      (error: unknown) =>
        resume(hasCode(error, "EEXIST") ? Effect.void : Effect.fail(describe(file)(error)))
    )
  })

/** Adds a new key, which verifies from now on; refused at `clusterKeysMax`. */
export const addClusterKey = (file: string): Effect.Effect<void, CommandFailure> =>
  editKeys(file, (lines) =>
    lines.length < clusterKeysMax
      ? Effect.succeed([...lines, newKey()])
      : failure(`the key file ${file} holds ${clusterKeysMax} keys, as many as it may; retire some`)
  )

/** Lets the newest key sign; the others verify. Refused when there is one key only. */
export const promoteClusterKey = (file: string): Effect.Effect<void, CommandFailure> =>
  editKeys(file, (lines) => {
    const newest = lines.at(-1)
    return newest === undefined || lines.length === 1
      ? failure(`the key file ${file} holds one key, which signs already; add another one first`)
      : Effect.succeed([newest, ...lines.slice(0, -1)])
  })

/** Takes out every key but the one that signs: what others have signed is refused from now on. */
export const retireClusterKeys = (file: string): Effect.Effect<void, CommandFailure> =>
  editKeys(file, (lines) => Effect.succeed(lines.slice(0, 1)))

const newKey = (): string => randomBytes(32).toString("hex")

const editKeys = Effect.fnUntraced(function* (
  file: string,
  edit: (
    lines: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<string>, CommandFailure> | CommandFailure
): Effect.fn.Return<void, CommandFailure> {
  const lines = yield* edit(yield* readLines(file))
  yield* attempt(file, () => replace(file, lines))
})

const writeNew = async (file: string, lines: ReadonlyArray<string>): Promise<void> => {
  const handle = await open(file, "wx", ownerOnly)
  try {
    await handle.writeFile(`${lines.join("\n")}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const replace = async (file: string, lines: ReadonlyArray<string>): Promise<void> => {
  const draft = `${file}.new`
  await rm(draft, { force: true })
  await writeNew(draft, lines)
  await rename(draft, file)
  const folder = await open(dirname(file), "r")
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  Predicate.hasProperty(error, "code") && error.code === code

const attempt = <A>(file: string, run: () => Promise<A>): Effect.Effect<A, CommandFailure> =>
  Effect.tryPromise({ try: run, catch: describe(file) })

const describe =
  (file: string) =>
  (error: unknown): CommandFailure =>
    failure(
      hasCode(error, "ENOENT")
        ? `the key file ${file} does not exist; make one with: openssl rand -hex 32 > ${file} && chmod 600 ${file}`
        : `the key file ${file} cannot be used: ${String(error)}`
    )
