/**
 * The flags that every process and command of a cluster shares, with their environment variables.
 */
import { Config, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import type { NatsOptions } from "@holdfast/adapter-nats"
import { ClusterId } from "@holdfast/wire"

/** The cluster's name; `HOLDFAST_CLUSTER`, else `holdfast`. */
export const clusterFlag = Flag.String("cluster").pipe(
  Flag.withDescription("The cluster's name"),
  Flag.withFallbackConfig(Config.String("HOLDFAST_CLUSTER").pipe(Config.withDefault("holdfast"))),
  Flag.withSchema(ClusterId)
)

/** NATS servers; `HOLDFAST_NATS`. */
export const natsFlag = Flag.String("nats").pipe(
  Flag.withDescription("NATS servers, comma separated, such as nats://127.0.0.1:4222"),
  Flag.withFallbackConfig(Config.String("HOLDFAST_NATS")),
  Flag.optional
)

const optionalText = (name: string, variable: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(description),
    Flag.withFallbackConfig(Config.String(variable)),
    Flag.optional
  )

/** How to authenticate to NATS; secrets come from files or the environment, never from a flag. */
export const natsAccessFlags = {
  natsCredentials: optionalText(
    "nats-credentials",
    "HOLDFAST_NATS_CREDENTIALS",
    "A NATS credentials (.creds) file"
  ),
  natsUser: optionalText("nats-user", "HOLDFAST_NATS_USER", "A NATS user"),
  natsCa: optionalText("nats-ca", "HOLDFAST_NATS_CA", "A CA file for TLS to NATS")
}

/** The key file; `HOLDFAST_KEY_FILE`. */
export const keyFileFlag = Flag.String("key-file").pipe(
  Flag.withDescription("A file with the cluster's key: 64 hex digits, readable by its owner only"),
  Flag.withFallbackConfig(Config.String("HOLDFAST_KEY_FILE"))
)

/** The directory that a process keeps its state in; `HOLDFAST_DATA`. */
export const dataFlag = Flag.String("data").pipe(
  Flag.withDescription("The directory for everything that is kept"),
  Flag.withFallbackConfig(Config.String("HOLDFAST_DATA"))
)

/** `--json`: one line of JSON instead of text for people. */
export const jsonFlag = Flag.Boolean("json").pipe(
  Flag.withDescription("Print JSON"),
  Flag.withDefault(false)
)

/** A whole number within bounds, shown with its default. */
export const numberFlag = (options: {
  readonly name: string
  readonly description: string
  readonly value: number
  readonly least: number
  readonly most: number
}) => {
  const { description, least, most, name, value } = options
  return Flag.Int(name).pipe(
    Flag.withDescription(`${description} (${value})`),
    Flag.withDefault(value),
    Flag.filter(
      (given) => given >= least && given <= most,
      () => `a number from ${least} to ${most}`
    )
  )
}

/** The longest time that a flag takes, in milliseconds: a week. */
const timeMax = 7 * 24 * 3_600_000

/** A time in milliseconds. */
export const timeFlag = (name: string, description: string, value: number, least = 0) =>
  numberFlag({ name, description, value, least, most: timeMax })

/** The flags of every service that runs on NATS. */
export const serviceFlags = {
  cluster: clusterFlag,
  nats: natsFlag,
  ...natsAccessFlags,
  check: Flag.Boolean("check").pipe(
    Flag.withDescription("Check the configuration and exit"),
    Flag.withDefault(false)
  )
}

/** What the flags above say of NATS. */
export interface NatsAccess {
  readonly natsCredentials: Option.Option<string>
  readonly natsUser: Option.Option<string>
  readonly natsCa: Option.Option<string>
}

/** The adapter's options; passwords and tokens come from `HOLDFAST_NATS_PASSWORD` and `_TOKEN`. */
export const natsOptionsOf = (options: {
  readonly servers: string
  readonly name: string
  readonly access: NatsAccess
  readonly environment: Readonly<Record<string, string | undefined>>
}): NatsOptions => {
  const { access, environment } = options
  const password = environment["HOLDFAST_NATS_PASSWORD"]
  const token = environment["HOLDFAST_NATS_TOKEN"]
  return {
    servers: options.servers.split(",").map((server) => server.trim()),
    name: options.name,
    ...(Option.isSome(access.natsCredentials)
      ? { credentialsFile: access.natsCredentials.value }
      : {}),
    ...(Option.isSome(access.natsUser) ? { user: access.natsUser.value } : {}),
    ...(password === undefined ? {} : { password: Redacted.make(password) }),
    ...(token === undefined ? {} : { token: Redacted.make(token) }),
    ...(Option.isSome(access.natsCa) ? { tls: { caFile: access.natsCa.value } } : {})
  }
}
