/**
 * The cluster's key: 32 secret bytes that the metadata service and the chunk servers share, as 64
 * hex digits in a file that only its owner may read. Capabilities and receipts are made with it.
 */
import { createHmac, randomBytes } from "node:crypto"
import { open, readFile, stat } from "node:fs/promises"
import { Effect, Predicate, Redacted } from "effect"
import { type CommandFailure, failure } from "./command-failure.ts"

const othersMayRead = 0o077
const keyPattern = /^[0-9a-f]{64}$/i

/** Reads the key; a missing, malformed or readable-by-others file is refused with what to do. */
export const readClusterKey = (
  file: string
): Effect.Effect<Redacted.Redacted<Uint8Array>, CommandFailure> =>
  Effect.gen(function* () {
    const { mode } = yield* attempt(() => stat(file), describe(file))
    if ((mode & othersMayRead) !== 0) {
      return yield* failure(`the key file ${file} may be read by others; run: chmod 600 ${file}`)
    }
    const text = (yield* attempt(() => readFile(file, "utf8"), describe(file))).trim()
    if (!keyPattern.test(text)) {
      return yield* failure(
        `the key file ${file} must hold 64 hex digits; make one with: openssl rand -hex 32`
      )
    }
    return Redacted.make(new Uint8Array(Buffer.from(text, "hex")))
  })

/** Makes a new key file; one that exists is left as it is. */
export const createClusterKey = (file: string): Effect.Effect<void, CommandFailure> =>
  Effect.callback<void, CommandFailure>((resume) => {
    writeNew(file).then(
      () => resume(Effect.void),
      (error: unknown) =>
        resume(hasCode(error, "EEXIST") ? Effect.void : Effect.fail(describe(file)(error)))
    )
  })

const writeNew = async (file: string): Promise<void> => {
  const handle = await open(file, "wx", 0o600)
  try {
    await handle.writeFile(`${randomBytes(32).toString("hex")}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The MAC of capabilities and receipts under a key: HMAC-SHA-256. */
export const macWith =
  (key: Redacted.Redacted<Uint8Array>) =>
  (text: string): Uint8Array =>
    new Uint8Array(createHmac("sha256", Redacted.value(key)).update(text).digest())

const hasCode = (error: unknown, code: string): boolean =>
  Predicate.hasProperty(error, "code") && error.code === code

const attempt = <A>(
  run: () => Promise<A>,
  onError: (error: unknown) => CommandFailure
): Effect.Effect<A, CommandFailure> => Effect.tryPromise({ try: run, catch: onError })

const describe =
  (file: string) =>
  (error: unknown): CommandFailure =>
    failure(
      hasCode(error, "ENOENT")
        ? `the key file ${file} does not exist; make one with: openssl rand -hex 32 > ${file} && chmod 600 ${file}`
        : `the key file ${file} cannot be used: ${String(error)}`
    )
