/**
 * The cluster's key: 32 secret bytes that the metadata service and the chunk servers share, as 64
 * hex digits in a file that only its owner may read. Capabilities and receipts are made with it.
 */
import { hash, randomBytes } from "node:crypto"
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

/** Bytes that SHA-256 takes at a time; the key is filled up to them. */
const blockBytes = 64
const digestBytes = 32
/** A text of a token is at most this long in bytes; longer ones are taken, too. */
const usualTextBytes = 1024

const paddedKey = (key: Uint8Array, pad: number): Uint8Array =>
  Uint8Array.from({ length: blockBytes }, (_, index) => (key[index] ?? 0) ^ pad)

/**
 * The MAC of capabilities and receipts under a key of at most 64 bytes: HMAC-SHA-256. It is made of
 * two plain hashes over buffers that are kept, which takes half the time of an `Hmac` object each.
 */
export const macWith = (key: Redacted.Redacted<Uint8Array>): ((text: string) => Uint8Array) => {
  if (Redacted.value(key).length > blockBytes) throw new RangeError("a key has 64 bytes at most")
  const outer = Buffer.concat([paddedKey(Redacted.value(key), 0x5c), Buffer.alloc(digestBytes)])
  let inner = Buffer.concat([paddedKey(Redacted.value(key), 0x36), Buffer.alloc(usualTextBytes)])
  return (text) => {
    const most = blockBytes + 3 * text.length
    if (most > inner.length) {
      inner = Buffer.concat([inner.subarray(0, blockBytes), Buffer.alloc(most - blockBytes)])
    }
    const length = blockBytes + inner.write(text, blockBytes)
    outer.set(hash("sha256", inner.subarray(0, length), "buffer"), blockBytes)
    return hash("sha256", outer, "buffer")
  }
}

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
