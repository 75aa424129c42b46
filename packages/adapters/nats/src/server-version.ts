/** The server's version, checked once at the start: older ones ignore what they do not know. */
import type { NatsConnection } from "@nats-io/transport-node"
import { Effect } from "effect"
import { NatsError } from "./nats-error.ts"

/** The oldest server that is tested: named consumers need it. */
export const oldestServer = { major: 2, minor: 9 } as const

/** Fails with `unsupported` when the server is older than {@link oldestServer}. */
export const requireServerVersion = (connection: NatsConnection): Effect.Effect<void, NatsError> =>
  Effect.suspend(() => {
    const version = connection.info?.version ?? ""
    if (isRecentEnough(version)) return Effect.void
    const oldest = `${oldestServer.major}.${oldestServer.minor}.0`
    return Effect.fail(
      new NatsError({
        code: "unsupported",
        message: `the NATS server is version "${version}"; ${oldest} or later is needed`
      })
    )
  })

/** Whether a version text such as `2.9.10` or `2.11.0-RC.1` is recent enough. */
export const isRecentEnough = (version: string): boolean => {
  const match = /^v?(\d+)\.(\d+)\./.exec(version)
  if (match === null) return false
  const major = Number(match[1])
  const minor = Number(match[2])
  return major > oldestServer.major || (major === oldestServer.major && minor >= oldestServer.minor)
}
