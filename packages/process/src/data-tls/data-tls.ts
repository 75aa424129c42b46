/** The data path as the settings say it: its certificates looked at, followed, and used. */
import {
  type ChunkEndpointTls,
  type FollowedTls,
  followTlsFiles,
  layerChunkTransportWith,
  readTlsFiles,
  type TlsFileNames,
  type TlsFilesError
} from "@holdfast/adapter-http"
import type { ChunkTransport } from "@holdfast/storage"
import { Effect, Layer, Option, type Scope } from "effect"
import { type CommandFailure, failure } from "../command-failure.ts"
import type { SettingValues } from "../configuration/setting.ts"
import { resolveSettings } from "../configuration/resolve.ts"
import { flagsOf, type TypedSettings } from "../configuration/setting-flags.ts"
import { type dataTlsServerSettings, dataTlsSettings } from "./data-tls-settings.ts"

/** What the settings say of the data path's certificates. */
export type DataTlsValues = SettingValues<typeof dataTlsSettings>

/** What those of a chunk server say, and where others reach it. */
export type DataTlsServerValues = SettingValues<typeof dataTlsServerSettings> & {
  readonly url: string | undefined
}

/** A flag for each setting of a client. */
export const dataTlsFlags = flagsOf(dataTlsSettings)

/** What the flags and this process's environment say. */
export const dataTlsValuesOf = (
  typed: TypedSettings
): Effect.Effect<DataTlsValues, CommandFailure> =>
  Effect.map(
    resolveSettings({ table: dataTlsSettings, typed, environment: process.env }),
    ({ values }) => values
  )

/** The files that are named; none where no setting says anything. */
const namesOf = ({
  dataTlsCa,
  dataTlsCert,
  dataTlsKey
}: DataTlsValues): Effect.Effect<Option.Option<TlsFileNames>, CommandFailure> => {
  if ((dataTlsCert === undefined) !== (dataTlsKey === undefined)) {
    return Effect.fail(
      failure("--data-tls-cert and --data-tls-key belong together; one of them is missing")
    )
  }
  if (dataTlsCa === undefined && dataTlsCert === undefined) return Effect.succeed(Option.none())
  return Effect.succeed(
    Option.some({
      ...(dataTlsCa === undefined ? {} : { caFile: dataTlsCa }),
      ...(dataTlsCert === undefined ? {} : { certFile: dataTlsCert }),
      ...(dataTlsKey === undefined ? {} : { keyFile: dataTlsKey })
    })
  )
}

const inWords = ({ message }: TlsFilesError): CommandFailure =>
  failure(`TLS on the data path: ${message}`)

/** Looks at the files without following them; fails with what is wrong. */
export const checkDataTls = (values: DataTlsValues): Effect.Effect<void, CommandFailure> =>
  Effect.flatMap(
    namesOf(values),
    Option.match({
      onNone: () => Effect.void,
      onSome: (names) => Effect.asVoid(Effect.mapError(readTlsFiles(names), inWords))
    })
  )

const follow = (
  values: DataTlsValues
): Effect.Effect<FollowedTls | undefined, CommandFailure, Scope.Scope> =>
  Effect.flatMap(
    namesOf(values),
    Option.match({
      onNone: () => Effect.undefined,
      onSome: (names) => Effect.mapError(followTlsFiles(names), inWords)
    })
  )

const transportOf = (
  { dataTlsRequire: requiresTls }: DataTlsValues,
  tls: FollowedTls | undefined
): Layer.Layer<ChunkTransport> =>
  layerChunkTransportWith(tls === undefined ? { requiresTls } : { requiresTls, tls })

/** A client of the data path that trusts whom the settings name. */
export const dataTransportLayer = (
  values: DataTlsValues
): Layer.Layer<ChunkTransport, CommandFailure> =>
  Layer.unwrap(Effect.map(follow(values), (tls) => transportOf(values, tls)))

/** Both sides of a chunk server: what it listens with, and how it reaches the other servers. */
export interface DataPathOfServer {
  readonly endpointTls?: ChunkEndpointTls
  readonly transport: Layer.Layer<ChunkTransport>
}

/** Opens and follows a chunk server's certificates until the scope closes. */
export const openDataPath = (
  values: DataTlsServerValues
): Effect.Effect<DataPathOfServer, CommandFailure, Scope.Scope> =>
  Effect.map(follow(values), (files) => ({
    transport: transportOf(values, files),
    ...(files === undefined || values.dataTlsCert === undefined
      ? {}
      : { endpointTls: { files, demandsClientCertificate: values.dataTlsVerify } })
  }))

/** As `checkDataTls`, and that a chunk server's settings agree with one another. */
export const checkDataPath = (values: DataTlsServerValues): Effect.Effect<void, CommandFailure> =>
  Effect.gen(function* () {
    const names = yield* namesOf(values)
    if (
      values.dataTlsVerify &&
      (values.dataTlsCert === undefined || values.dataTlsCa === undefined)
    ) {
      return yield* failure(
        "--data-tls-verify needs --data-tls-cert, --data-tls-key and --data-tls-ca: " +
          "it demands certificates of that authority"
      )
    }
    if (values.dataTlsRequire && values.dataTlsCert === undefined) {
      return yield* failure(
        "--data-tls-require needs --data-tls-cert and --data-tls-key: " +
          "without them this server itself is reached by plain http://"
      )
    }
    if (Option.isNone(names)) return
    const { identity } = yield* Effect.mapError(readTlsFiles(names.value), inWords)
    const url = values.url === undefined ? null : URL.parse(values.url)
    if (Option.isNone(identity) || url === null) return
    if (url.protocol !== "https:") {
      return yield* failure(`--url ${values.url} must begin with https://: this server serves TLS`)
    }
    if (!identity.value.isFor(url.hostname)) {
      return yield* failure(
        `the certificate in ${values.dataTlsCert} is for ${identity.value.names}, ` +
          `not for ${url.hostname}, by which --url says that others reach this server`
      )
    }
  })
