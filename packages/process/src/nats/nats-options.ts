/** The adapter's options as the settings say them; every file that they name is looked at. */
import { checkNatsOptions, type NatsOptions } from "@holdfast/adapter-nats"
import { Effect, Result } from "effect"
import { type CommandFailure, failure } from "../command-failure.ts"
import { secretOf } from "../configuration/secret.ts"
import type { SettingValues } from "../configuration/setting.ts"
import { parseNatsAddress } from "./nats-address.ts"
import type { natsSettings } from "./nats-settings.ts"

/** What the settings say of NATS. */
export type NatsValues = SettingValues<typeof natsSettings>

/** The options of a connection of this name; fails with what is wrong and what would be right. */
export const natsOptionsOf = (
  values: NatsValues,
  name: string
): Effect.Effect<NatsOptions, CommandFailure> =>
  Effect.gen(function* () {
    if (values.nats === undefined) {
      return yield* failure("name the NATS servers with --nats, such as nats://127.0.0.1:4222")
    }
    const address = yield* orFail(parseNatsAddress(values.nats))
    const user = values.user ?? address.user
    const password = (yield* secretOf(values.password, values.passwordFile)) ?? address.password
    const token = (yield* secretOf(values.token, values.tokenFile)) ?? address.token
    const ways = {
      "--creds": values.creds,
      "--nkey": values.nkey,
      "a user": user,
      "a token": token
    }
    const chosen = Object.entries(ways).flatMap(([way, value]) => (value === undefined ? [] : way))
    if (chosen.length > 1) {
      return yield* failure(`NATS takes one of ${chosen.join(" and ")}; leave the others out`)
    }
    if ((values.tlscert === undefined) !== (values.tlskey === undefined)) {
      return yield* failure("--tlscert and --tlskey belong together; one of them is missing")
    }
    const options: NatsOptions = {
      servers: address.servers,
      name,
      ...(values.creds === undefined ? {} : { credentialsFile: values.creds }),
      ...(values.nkey === undefined ? {} : { nkeySeedFile: values.nkey }),
      ...(user === undefined ? {} : { user }),
      ...(password === undefined ? {} : { password }),
      ...(token === undefined ? {} : { token }),
      ...(values.inboxPrefix === undefined ? {} : { inboxPrefix: values.inboxPrefix }),
      ...tlsOf(values)
    }
    yield* Effect.mapError(checkNatsOptions(options), ({ message }) => failure(message))
    return options
  })

const tlsOf = ({ tlsca, tlscert, tlsfirst, tlskey }: NatsValues): Pick<NatsOptions, "tls"> =>
  tlsca === undefined && tlscert === undefined && !tlsfirst
    ? {}
    : {
        tls: {
          ...(tlsca === undefined ? {} : { caFile: tlsca }),
          ...(tlscert === undefined ? {} : { certFile: tlscert }),
          ...(tlskey === undefined ? {} : { keyFile: tlskey }),
          ...(tlsfirst ? { handshakeFirst: true } : {})
        }
      }

const orFail = <A>(result: Result.Result<A, string>): Effect.Effect<A, CommandFailure> =>
  Result.isSuccess(result) ? Effect.succeed(result.success) : Effect.fail(failure(result.failure))
