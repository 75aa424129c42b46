/**
 * How a command reaches its cluster: over NATS where `--nats` names one, else over loopback HTTP to
 * the `up` of the same data directory, with the token that it keeps there.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { layerLoopbackMessaging } from "@holdfast/adapter-http"
import { type NatsConnections, type NatsError, natsMessagingLayer } from "@holdfast/adapter-nats"
import { clientLayer } from "@holdfast/client"
import type { Messaging, MessagingError } from "@holdfast/messaging"
import {
  clusterFlag,
  type CommandFailure,
  dataTlsFlags,
  dataTlsValuesOf,
  dataTransportLayer,
  failure,
  natsConnections,
  natsFlags,
  natsValuesOf,
  type TypedSettings
} from "@holdfast/process"
import type { ClusterId } from "@holdfast/wire"
import { Config, Effect, Layer, Option } from "effect"
import { Flag } from "effect/cli"

/** The data directory of an embedded cluster; `HOLDFAST_DATA`, else `.holdfast`. */
export const embeddedDataFlag = Flag.String("data").pipe(
  Flag.withDescription("The data directory of a cluster started with `up`"),
  Flag.withFallbackConfig(Config.String("HOLDFAST_DATA").pipe(Config.withDefault(".holdfast")))
)

/** The flags of every command that talks to a cluster. */
export const connectionFlags = {
  cluster: clusterFlag,
  access: { ...natsFlags, ...dataTlsFlags },
  data: embeddedDataFlag
}

/** What those flags say. */
export interface ConnectionOptions {
  readonly cluster: ClusterId
  /** What was typed of NATS and of the data path. */
  readonly access: TypedSettings
  readonly data: string
}

/** The file with address and token that an embedded cluster keeps in its data directory. */
export const accessFileOf = (data: string): string => join(data, "access.json")

const overLoopback = (options: ConnectionOptions) =>
  Layer.unwrap(
    Effect.suspend(() =>
      existsSync(accessFileOf(options.data))
        ? Effect.succeed(layerLoopbackMessaging({ accessFile: accessFileOf(options.data) }))
        : Effect.fail(
            failure(
              `no cluster runs on ${options.data}: start one with \`npm start -- up\`, ` +
                "name its directory with --data, or name NATS servers with --nats"
            )
          )
    )
  )

/** Why a cluster cannot be reached. */
export type ConnectionError = CommandFailure | MessagingError | NatsError

/** The connections to NATS that the flags name, or none where they name an `up`. */
export const natsOf = (
  options: ConnectionOptions,
  name: string
): Effect.Effect<
  Option.Option<Layer.Layer<NatsConnections, CommandFailure | NatsError>>,
  CommandFailure
> =>
  Effect.map(natsValuesOf(options.access), (values) =>
    values.nats === undefined ? Option.none() : Option.some(natsConnections(values, name))
  )

/** Messaging as the flags name it. */
export const messagingLayer = (
  options: ConnectionOptions
): Layer.Layer<Messaging, ConnectionError> =>
  Layer.unwrap(
    Effect.map(
      natsOf(options, "holdfast-client"),
      Option.match({
        onNone: (): Layer.Layer<Messaging, ConnectionError> => overLoopback(options),
        onSome: (connections) => natsMessagingLayer().pipe(Layer.provide(connections))
      })
    )
  )

/** The data path as the flags name its authorities. */
const transportLayer = (options: ConnectionOptions) =>
  Layer.unwrap(Effect.map(dataTlsValuesOf(options.access), dataTransportLayer))

/** All clients of the cluster that the flags name. */
export const connectedLayer = (options: ConnectionOptions) =>
  clientLayer({ cluster: options.cluster, restartPause: "2 seconds" }).pipe(
    Layer.provideMerge(Layer.mergeAll(messagingLayer(options), transportLayer(options)))
  )
