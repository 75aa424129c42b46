/**
 * The servers of a connection. A URL may name a user with a password, or a token, as the `nats`
 * command line allows; both are taken out, so that no message shows them.
 */
import { Redacted, Result } from "effect"

/** Servers without secrets, and the secrets that stood in them. */
export interface NatsAddress {
  readonly servers: ReadonlyArray<string>
  readonly user?: string
  readonly password?: Redacted.Redacted
  readonly token?: Redacted.Redacted
}

const schemes = new Set(["nats:", "tls:"])

/** Parses a comma-separated list; the failure quotes nothing of what may be a secret. */
export const parseNatsAddress = (text: string): Result.Result<NatsAddress, string> => {
  let found: Omit<NatsAddress, "servers"> = {}
  const servers: Array<string> = []
  for (const part of text.split(",").map((one) => one.trim())) {
    const url = urlOf(part)
    if (url === undefined) {
      return Result.fail("--nats takes servers such as nats://127.0.0.1:4222, comma separated")
    }
    if (url.username !== "") found = secretsOf(url)
    servers.push(`${url.protocol}//${url.host}`)
  }
  return Result.succeed({ servers, ...found })
}

const urlOf = (part: string): URL | undefined => {
  const url = URL.parse(part.includes("://") ? part : `nats://${part}`)
  return url === null || !schemes.has(url.protocol) || url.hostname === "" ? undefined : url
}

const secretsOf = (url: URL): Omit<NatsAddress, "servers"> => {
  const user = decodeURIComponent(url.username)
  return url.password === ""
    ? { token: Redacted.make(user) }
    : { user, password: Redacted.make(decodeURIComponent(url.password)) }
}
