/**
 * Decentralised NATS access made by hand for a test: an operator, its accounts and a user, each an
 * nkey, and the JWTs that the server and the user's credentials file carry.
 *
 *     operator ──signs──▶ account ──signs──▶ user ──signs──▶ the server's nonce
 */
import { createHash } from "node:crypto"
import { nkeys } from "@nats-io/transport-node"

type KeyPair = ReturnType<typeof nkeys.createUser>

const base64Url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64url")

interface Claims {
  readonly subject: KeyPair
  readonly issuer: KeyPair
  readonly name: string
  readonly nats: Readonly<Record<string, unknown>>
}

const signToken = ({ issuer, name, nats, subject }: Claims): string => {
  const claims = {
    jti: createHash("sha256").update(subject.getPublicKey()).digest("hex").toUpperCase(),
    iat: Math.floor(Date.now() / 1_000),
    iss: issuer.getPublicKey(),
    name,
    sub: subject.getPublicKey(),
    nats: { version: 2, ...nats }
  }
  const header = base64Url(JSON.stringify({ typ: "JWT", alg: "ed25519-nkey" }))
  const text = `${header}.${base64Url(JSON.stringify(claims))}`
  return `${text}.${base64Url(issuer.sign(new TextEncoder().encode(text)))}`
}

const unlimited = {
  subs: -1,
  data: -1,
  payload: -1,
  imports: -1,
  exports: -1,
  wildcards: true,
  conn: -1,
  leaf: -1
}

/** Lines for the server, and the user's credentials file. */
export interface DecentralisedAccess {
  readonly configuration: string
  readonly credentials: string
}

/** Makes an operator with a system account and one account, and a user of that. */
export const makeDecentralisedAccess = (): DecentralisedAccess => {
  const operator = nkeys.createOperator()
  const system = nkeys.createAccount()
  const account = nkeys.createAccount()
  const user = nkeys.createUser()
  const accountToken = (subject: KeyPair, name: string): string =>
    signToken({ subject, issuer: operator, name, nats: { type: "account", limits: unlimited } })
  const operatorToken = signToken({
    subject: operator,
    issuer: operator,
    name: "operator",
    nats: { type: "operator", system_account: system.getPublicKey() }
  })
  const userLimits = { subs: -1, data: -1, payload: -1 }
  const userToken = signToken({
    subject: user,
    issuer: account,
    name: "user",
    nats: { type: "user", pub: {}, sub: {}, ...userLimits }
  })
  const preload = [
    `${system.getPublicKey()}: "${accountToken(system, "SYS")}"`,
    `${account.getPublicKey()}: "${accountToken(account, "APP")}"`
  ]
  const seed = new TextDecoder().decode(user.getSeed())
  return {
    configuration: [
      `operator: "${operatorToken}"`,
      `system_account: ${system.getPublicKey()}`,
      "resolver: MEMORY",
      `resolver_preload: {\n${preload.join("\n")}\n}`
    ].join("\n"),
    credentials: [
      "-----BEGIN NATS USER JWT-----",
      userToken,
      "------END NATS USER JWT------",
      "",
      "-----BEGIN USER NKEY SEED-----",
      seed,
      "------END USER NKEY SEED------",
      ""
    ].join("\n")
  }
}
