/**
 * Certificates that are followed: read at the start, and again whenever a file has changed, so that
 * they can be renewed while everything runs.
 *
 * 1. Material that cannot be used never replaces one that can; it is warned of once.
 * 2. Certificate and key are replaced one after the other: what does not fit for a moment only is
 *    not warned of.
 * 3. New connections use the new material; those that are open go on as they began.
 */
import { Duration, Effect, Metric, Option, type Scope } from "effect"
import {
  checkTlsTexts,
  readTlsTexts,
  type TlsFileNames,
  type TlsFilesError,
  type TlsMaterial,
  type TlsTexts
} from "./tls-files.ts"

/** After a change of the files they are in use within this time. */
export const tlsFilesReadEvery = Duration.seconds(2)

/** Certificates as they are now. */
export interface FollowedTls {
  readonly present: () => TlsMaterial
  /** Calls back with each new material, until the scope closes. */
  readonly onChange: (
    act: (material: TlsMaterial) => void
  ) => Effect.Effect<void, never, Scope.Scope>
}

const validUntil = Metric.gauge("holdfast_data_tls_valid_until_seconds", {
  description: "when this process's certificate of the data path expires, in seconds since 1970"
})

const show = ({ identity }: TlsMaterial): Effect.Effect<void> =>
  Option.match(identity, {
    onNone: () => Effect.void,
    onSome: (own) => Metric.update(validUntil, Math.floor(own.validUntil.getTime() / 1_000))
  })

const isSame = (one: TlsTexts, other: TlsTexts): boolean =>
  [one.ca, one.cert, one.key].every(
    (text, index) =>
      Option.getOrUndefined(text) ===
      Option.getOrUndefined([other.ca, other.cert, other.key][index] ?? Option.none())
  )

const checkNow = (
  names: TlsFileNames,
  texts: TlsTexts
): Effect.Effect<TlsMaterial, TlsFilesError> =>
  Effect.suspend(() => Effect.fromResult(checkTlsTexts(names, texts, Date.now())))

const describe = ({ identity }: TlsMaterial): string =>
  Option.match(identity, {
    onNone: () => "the authority of the data path was read again",
    onSome: ({ names, validUntil: until }) =>
      `the certificate of the data path was read again: ${names}, until ${until.toISOString()}`
  })

/** Opens the files and follows them until the scope closes. */
export const followTlsFiles = Effect.fnUntraced(function* (
  names: TlsFileNames,
  readEvery: Duration.Duration = tlsFilesReadEvery
): Effect.fn.Return<FollowedTls, TlsFilesError, Scope.Scope> {
  let texts = yield* readTlsTexts(names)
  let present = yield* checkNow(names, texts)
  let trouble = { message: "", looks: 0 }
  const listeners = new Set<(material: TlsMaterial) => void>()
  yield* show(present)

  const take = (material: TlsMaterial, from: TlsTexts) => {
    present = material
    texts = from
    for (const listener of listeners) listener(material)
    return Effect.andThen(show(material), Effect.logInfo(describe(material)))
  }
  const complain = ({ message }: TlsFilesError) => {
    trouble = { message, looks: message === trouble.message ? trouble.looks + 1 : 1 }
    return trouble.looks === 2
      ? Effect.logError(`the certificates of the data path stay as they are: ${message}`)
      : Effect.void
  }
  const look = readTlsTexts(names).pipe(
    Effect.flatMap((read) => {
      if (isSame(read, texts)) return Effect.sync(() => (trouble = { message: "", looks: 0 }))
      return Effect.flatMap(checkNow(names, read), (material) => take(material, read))
    }),
    Effect.catch(complain)
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(readEvery), look)))
  return {
    present: () => present,
    onChange: (act) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => listeners.add(act)),
          () => Effect.sync(() => listeners.delete(act))
        )
      )
  }
})
