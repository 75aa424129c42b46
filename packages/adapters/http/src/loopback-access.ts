/**
 * The access file of loopback messaging: who may read it may speak.
 *
 * 1. It is readable and writable by its owner alone, from the moment it exists.
 * 2. It appears with all its content, takes the place of an older one, and goes with the server
 *    that made it; one that another server has replaced meanwhile is left alone.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import { open, readFile, rename, unlink } from "node:fs/promises"
import { MessagingError } from "@holdfast/messaging"
import { Effect, Schema, type Scope } from "effect"
import { LoopbackAccess } from "./loopback-wire.ts"

const ownerOnly = 0o600

const accessError = (code: MessagingError["code"], message: string) =>
  new MessagingError({ code, subject: "", message })

/** A word that cannot be guessed. */
export const makeToken = (): string => randomBytes(32).toString("base64url")

/** Whether a token is the right one; takes the same time wherever they differ. */
export const isToken = (given: string, right: string): boolean => {
  const digest = (text: string) => createHash("sha256").update(text).digest()
  return timingSafeEqual(digest(given), digest(right))
}

const writeAccess = async (path: string, access: LoopbackAccess): Promise<void> => {
  const draft = `${path}.${randomBytes(8).toString("hex")}`
  const file = await open(draft, "wx", ownerOnly)
  try {
    await file.writeFile(`${Schema.encodeSync(LoopbackAccess)(access)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}

/** Reads an access file; `disconnected` when there is none, `denied` when it may not be read. */
export const readAccess = (path: string): Effect.Effect<LoopbackAccess, MessagingError> =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) => {
      const code = cause instanceof Error && "code" in cause ? cause.code : undefined
      return code === "EACCES" || code === "EPERM"
        ? accessError("denied", `${path} may not be read by this user`)
        : accessError(
            "disconnected",
            `no server runs here: ${path} cannot be read (${String(code)})`
          )
    }
  }).pipe(
    Effect.flatMap((text) =>
      Schema.decodeEffect(LoopbackAccess)(text).pipe(
        Effect.mapError((error) => accessError("invalid", `${path}: ${error.message}`))
      )
    )
  )

const removeOwn = (path: string, access: LoopbackAccess) =>
  readAccess(path).pipe(
    Effect.flatMap((present) =>
      present.token === access.token ? Effect.promise(() => unlink(path)) : Effect.void
    ),
    Effect.ignore
  )

/** Keeps an access file until the scope closes. */
export const keepAccess = (
  path: string,
  access: LoopbackAccess
): Effect.Effect<void, MessagingError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => writeAccess(path, access),
      catch: (cause) => accessError("disconnected", `${path} cannot be written: ${String(cause)}`)
    }),
    () => removeOwn(path, access)
  )
