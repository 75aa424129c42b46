/**
 * Certificates of the data path as the files that hold them: read whole, and checked before
 * anything uses them, so that a wrong file is a sentence here and not a refusal elsewhere.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto"
import { open } from "node:fs/promises"
import { isIP } from "node:net"
import { createSecureContext, type SecureContext } from "node:tls"
import { Effect, Option, Predicate, Result, Schema } from "effect"

/** Paths of PEM files; without an authority the system's authorities are trusted. */
export interface TlsFileNames {
  /** The authorities that sign the other side's certificates. */
  readonly caFile?: string
  /** This side's certificate, with those between it and its authority behind it. */
  readonly certFile?: string
  /** The private key of that certificate, without a passphrase. */
  readonly keyFile?: string
}

/** Why files cannot be used; the message names the file and what would be right. */
export class TlsFilesError extends Schema.TaggedError<TlsFilesError>()("TlsFilesError", {
  code: Schema.Literals(["unreadable", "malformed", "mismatched", "not-valid-now"]),
  message: Schema.String
}) {}

/** A certificate with its key, and what it says. */
export interface TlsIdentity {
  readonly cert: string
  readonly key: string
  readonly validUntil: Date
  /** Whether it is for a host name or an address. */
  readonly isFor: (host: string) => boolean
  /** The names that it is for, as people read them. */
  readonly names: string
}

/** What the files hold, checked. */
export interface TlsMaterial {
  readonly authorities: Option.Option<string>
  readonly identity: Option.Option<TlsIdentity>
  /** What connections are made with. */
  readonly context: SecureContext
}

/** The texts of the files, which have not been looked into yet. */
export interface TlsTexts {
  readonly ca: Option.Option<string>
  readonly cert: Option.Option<string>
  readonly key: Option.Option<string>
}

/** Bundles of all public authorities are a quarter of this, in bytes. */
const bytesMax = 1024 * 1024
/** The group of a key file may read it: that is how a machine's services share certificates. */
const everyoneMayUse = 0o007

const refuse = (code: TlsFilesError["code"], message: string) =>
  new TlsFilesError({ code, message })

const readText = async (file: string, isSecret: boolean): Promise<string> => {
  const handle = await open(file, "r")
  try {
    const status = await handle.stat()
    if (!status.isFile()) throw refuse("unreadable", `${file} is no file`)
    if (status.size > bytesMax) {
      throw refuse("malformed", `${file} is larger than ${bytesMax} bytes: it holds something else`)
    }
    if (isSecret && (status.mode & everyoneMayUse) !== 0) {
      throw refuse("unreadable", `${file} may be read by everyone; run: chmod o-rwx ${file}`)
    }
    return await handle.readFile("utf8")
  } finally {
    await handle.close()
  }
}

const reasonOf = (thrown: unknown): string => {
  const code = Predicate.hasProperty(thrown, "code") ? thrown.code : undefined
  if (code === "ENOENT") return "does not exist"
  if (code === "EACCES") return "may not be read by this user"
  return `cannot be read: ${String(code ?? thrown)}`
}

const textOf = (
  file: string | undefined,
  isSecret: boolean = false
): Effect.Effect<Option.Option<string>, TlsFilesError> =>
  file === undefined
    ? Effect.succeed(Option.none())
    : Effect.tryPromise({
        try: () => readText(file, isSecret),
        catch: (thrown) =>
          thrown instanceof TlsFilesError
            ? thrown
            : refuse("unreadable", `${file} ${reasonOf(thrown)}`)
      }).pipe(Effect.map(Option.some))

/** Reads the files that are named. */
export const readTlsTexts = (names: TlsFileNames): Effect.Effect<TlsTexts, TlsFilesError> =>
  Effect.all({
    ca: textOf(names.caFile),
    cert: textOf(names.certFile),
    key: textOf(names.keyFile, true)
  })

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The certificates of a text, the first one that the text is about. */
const certificatesOf = (file: string, text: string) =>
  Result.try({
    try: () => (text.match(pemBlock) ?? []).map((block) => new X509Certificate(block)),
    catch: () => refuse("malformed", `${file} holds a certificate that cannot be read`)
  }).pipe(
    Result.flatMap(([first, ...others]) =>
      first === undefined
        ? Result.fail(refuse("malformed", `${file} holds no certificate; a PEM file is wanted`))
        : Result.succeed([first, ...others] as const)
    )
  )

const privateKeyOf = (file: string, text: string): Result.Result<KeyObject, TlsFilesError> =>
  Result.try({
    try: () => createPrivateKey(text),
    // What OpenSSL says of it may quote the file.
    catch: () =>
      refuse("malformed", `${file} holds no private key; a PEM file without passphrase is wanted`)
  })

/** Fails while a certificate is not valid; `now` in milliseconds since 1970. */
const checkDates = (
  file: string,
  certificate: X509Certificate,
  now: number
): Result.Result<void, TlsFilesError> => {
  const { validFromDate, validToDate } = certificate
  if (now > validToDate.getTime()) {
    const message = `the certificate in ${file} expired at ${validToDate.toISOString()}; renew it`
    return Result.fail(refuse("not-valid-now", message))
  }
  if (now < validFromDate.getTime()) {
    const message =
      `the certificate in ${file} is valid from ${validFromDate.toISOString()} on; ` +
      "is this machine's clock right?"
    return Result.fail(refuse("not-valid-now", message))
  }
  return Result.succeed(undefined)
}

const isForHost = (certificate: X509Certificate) => (host: string) => {
  const bare = host.replace(/^\[(.*)\]$/, "$1")
  return (isIP(bare) === 0 ? certificate.checkHost(bare) : certificate.checkIP(bare)) !== undefined
}

const identityOf = (
  file: { readonly cert: string; readonly key: string },
  text: { readonly cert: string; readonly key: string },
  now: number
): Result.Result<TlsIdentity, TlsFilesError> =>
  Result.gen(function* () {
    const [certificate] = yield* certificatesOf(file.cert, text.cert)
    const key = yield* privateKeyOf(file.key, text.key)
    if (!certificate.checkPrivateKey(key)) {
      const message = `${file.key} is not the key of the certificate in ${file.cert}`
      return yield* Result.fail(refuse("mismatched", message))
    }
    yield* checkDates(file.cert, certificate, now)
    return {
      ...text,
      validUntil: certificate.validToDate,
      isFor: isForHost(certificate),
      names: certificate.subjectAltName ?? certificate.subject
    }
  })

/** Checks what the files hold; `now` in milliseconds since 1970. */
export const checkTlsTexts = (
  names: TlsFileNames,
  texts: TlsTexts,
  now: number
): Result.Result<TlsMaterial, TlsFilesError> =>
  Result.gen(function* () {
    const { caFile = "", certFile = "", keyFile = "" } = names
    if (Option.isSome(texts.ca)) yield* certificatesOf(caFile, texts.ca.value)
    if (Option.isSome(texts.cert) !== Option.isSome(texts.key)) {
      const message = "a certificate and its private key belong together; one of them is missing"
      return yield* Result.fail(refuse("mismatched", message))
    }
    const both = Option.all({ cert: texts.cert, key: texts.key })
    const identity = Option.isNone(both)
      ? Option.none()
      : Option.some(yield* identityOf({ cert: certFile, key: keyFile }, both.value, now))
    const context = yield* Result.try({
      try: () => createSecureContext(contextOptions({ authorities: texts.ca, identity })),
      catch: () => refuse("malformed", `TLS refuses what ${Object.values(names).join(", ")} hold`)
    })
    return { authorities: texts.ca, identity, context }
  })

/** The options of Node's TLS for this material. */
export const contextOptions = ({
  authorities,
  identity
}: Pick<TlsMaterial, "authorities" | "identity">) => ({
  ...(Option.isSome(authorities) ? { ca: authorities.value } : {}),
  ...(Option.isSome(identity) ? { cert: identity.value.cert, key: identity.value.key } : {})
})

/** Reads and checks the files once. */
export const readTlsFiles = (names: TlsFileNames): Effect.Effect<TlsMaterial, TlsFilesError> =>
  Effect.flatMap(readTlsTexts(names), (texts) =>
    Effect.suspend(() => Effect.fromResult(checkTlsTexts(names, texts, Date.now())))
  )
