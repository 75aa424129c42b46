/** What a connection to NATS needs to know, and its translation for the client library. */
import { readFileSync } from "node:fs"
import {
  type Authenticator,
  credsAuthenticator,
  type NodeConnectionOptions,
  nkeyAuthenticator
} from "@nats-io/transport-node"
import { Duration, Effect, Redacted } from "effect"
import { NatsError, textOf } from "./nats-error.ts"

/** Certificates as file paths; without any, the system's authorities are trusted. */
export interface NatsTlsOptions {
  readonly caFile?: string
  readonly certFile?: string
  readonly keyFile?: string
  /** Start TLS before the server speaks, for servers that are configured so. */
  readonly handshakeFirst?: boolean
}

/** Where NATS is, who this client is, and how patient it is. */
export interface NatsOptions {
  /** `nats://host:port` or `host:port`; the first that answers is taken. */
  readonly servers: ReadonlyArray<string>
  /** Shown in the server's list of connections. */
  readonly name: string
  /** A `.creds` file; read again at each connection, so that it can be rotated. */
  readonly credentialsFile?: string
  /** A file that holds an nkey seed; read again at each connection. */
  readonly nkeySeedFile?: string
  readonly user?: string
  readonly password?: Redacted.Redacted
  readonly token?: Redacted.Redacted
  /** TLS with these files; absent, TLS is used when the server demands or offers it. */
  readonly tls?: NatsTlsOptions
  /** Where replies to this client go, for accounts that restrict `_INBOX`. Default `_INBOX`. */
  readonly inboxPrefix?: string
  /** How long the first connection may take. Default 5 seconds. */
  readonly connectDeadline?: Duration.Input
  /** How long closing may wait for what is under way. Default 5 seconds. */
  readonly closeDeadline?: Duration.Input
  /**
   * How often the server's life is checked; two missed answers count as a loss. Default 5 seconds.
   */
  readonly pingInterval?: Duration.Input
  /** The pause between attempts to reconnect, which never cease. Default 250 milliseconds. */
  readonly reconnectWait?: Duration.Input
}

/** The patience of {@link NatsOptions} with its defaults filled in. */
export interface Deadlines {
  readonly connect: Duration.Duration
  readonly close: Duration.Duration
}

/** Fills in the deadlines. */
export const deadlinesOf = (options: NatsOptions): Deadlines => ({
  connect: Duration.fromInputUnsafe(options.connectDeadline ?? "5 seconds"),
  close: Duration.fromInputUnsafe(options.closeDeadline ?? "5 seconds")
})

const milliseconds = (input: Duration.Input): number =>
  Math.max(1, Math.ceil(Duration.toMillis(Duration.fromInputUnsafe(input))))

/** The client library's form of the options; `name` is this connection's own. */
export const toConnectionOptions = (options: NatsOptions, name: string): NodeConnectionOptions => ({
  servers: [...options.servers],
  name,
  timeout: milliseconds(options.connectDeadline ?? "5 seconds"),
  reconnect: true,
  maxReconnectAttempts: -1,
  reconnectTimeWait: milliseconds(options.reconnectWait ?? "250 millis"),
  reconnectJitter: 100,
  reconnectJitterTLS: 500,
  pingInterval: milliseconds(options.pingInterval ?? "5 seconds"),
  maxPingOut: 2,
  // An operator who mends a credentials file should not have to restart every service.
  ignoreAuthErrorAbort: true,
  noAsyncTraces: true,
  ...(options.user === undefined ? {} : { user: options.user }),
  ...(options.password === undefined ? {} : { pass: Redacted.value(options.password) }),
  ...(options.token === undefined ? {} : { token: Redacted.value(options.token) }),
  ...(options.inboxPrefix === undefined ? {} : { inboxPrefix: options.inboxPrefix }),
  ...(options.tls === undefined ? {} : { tls: { ...options.tls } }),
  ...authenticatorOf(options)
})

const authenticatorOf = (options: NatsOptions): { authenticator?: Authenticator } => {
  const { credentialsFile, nkeySeedFile } = options
  if (credentialsFile !== undefined) {
    return { authenticator: (nonce) => credsAuthenticator(readFileSync(credentialsFile))(nonce) }
  }
  if (nkeySeedFile !== undefined) {
    return { authenticator: (nonce) => nkeyAuthenticator(readSeed(nkeySeedFile))(nonce) }
  }
  return {}
}

const readSeed = (file: string): Uint8Array =>
  new TextEncoder().encode(readFileSync(file, "utf8").trim())

/**
 * Looks at every file that the options name, without connecting. Fails as `invalid` with the file
 * and what is wrong with it; no message quotes what a file holds.
 */
export const checkNatsOptions = (options: NatsOptions): Effect.Effect<void, NatsError> =>
  Effect.gen(function* () {
    const { credentialsFile, nkeySeedFile, tls } = options
    for (const file of [tls?.caFile, tls?.certFile, tls?.keyFile]) {
      if (file !== undefined) yield* attempt(file, () => readFileSync(file))
    }
    const file = credentialsFile ?? nkeySeedFile
    if (file === undefined) return
    yield* attempt(file, () => readFileSync(file))
    // Signing a nonce shows that the file holds a key that can.
    yield* attempt(file, () => authenticatorOf(options).authenticator?.("nonce"))
  })

const attempt = (file: string, run: () => unknown): Effect.Effect<void, NatsError> =>
  Effect.try({
    try: run,
    catch: (thrown) =>
      new NatsError({ code: "invalid", message: `${file} cannot be used: ${reasonOf(thrown)}` })
  })

const reasonOf = (thrown: unknown): string => {
  const text = textOf(thrown)
  return text.startsWith("ENOENT") ? "there is no such file" : text
}
