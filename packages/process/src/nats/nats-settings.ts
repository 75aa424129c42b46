/**
 * How a process reaches NATS and who it is there, as users of the `nats` command line say it: URLs,
 * a credentials file, an nkey seed file, user and password, a token, TLS files, or a context.
 */
import { optionalText, PlainText, booleanSetting } from "../configuration/setting.ts"

const variables = (name: string, ...others: ReadonlyArray<string>): ReadonlyArray<string> => [
  `HOLDFAST_NATS${name}`,
  ...others
]

const secretFile = (what: string) => `A file that holds the ${what}, readable by its owner only`

/** The settings of a connection to NATS; each variable of the `nats` command line counts, too. */
export const natsSettings = {
  nats: optionalText(PlainText, {
    description: "NATS servers, comma separated, such as nats://127.0.0.1:4222",
    variables: variables("", "NATS_URL"),
    // A URL may carry a password or a token.
    isSecret: false
  }),
  context: optionalText(PlainText, {
    description: "A context of the nats command line, in $XDG_CONFIG_HOME/nats/context",
    variables: variables("_CONTEXT", "NATS_CONTEXT")
  }),
  creds: optionalText(PlainText, {
    description: "A NATS credentials (.creds) file",
    variables: variables("_CREDS", "NATS_CREDS")
  }),
  nkey: optionalText(PlainText, {
    description: "A file that holds an nkey seed",
    variables: variables("_NKEY", "NATS_NKEY")
  }),
  user: optionalText(PlainText, {
    description: "A NATS user",
    variables: variables("_USER", "NATS_USER")
  }),
  password: optionalText(PlainText, {
    description: "The user's password",
    variables: variables("_PASSWORD", "NATS_PASSWORD"),
    isSecret: true
  }),
  passwordFile: optionalText(PlainText, {
    description: secretFile("user's password"),
    variables: variables("_PASSWORD_FILE")
  }),
  token: optionalText(PlainText, {
    description: "A NATS token",
    variables: variables("_TOKEN", "NATS_TOKEN"),
    isSecret: true
  }),
  tokenFile: optionalText(PlainText, {
    description: secretFile("token"),
    variables: variables("_TOKEN_FILE")
  }),
  tlsca: optionalText(PlainText, {
    description: "The authority (PEM file) that signed the servers' certificates",
    variables: variables("_CA", "NATS_CA")
  }),
  tlscert: optionalText(PlainText, {
    description: "This client's certificate (PEM file)",
    variables: variables("_CERT", "NATS_CERT")
  }),
  tlskey: optionalText(PlainText, {
    description: "The private key (PEM file) of that certificate",
    variables: variables("_KEY", "NATS_KEY")
  }),
  tlsfirst: booleanSetting({
    description: "Start TLS before the server speaks",
    variables: variables("_TLS_FIRST")
  }),
  inboxPrefix: optionalText(PlainText, {
    description: "Where replies go, for accounts that restrict _INBOX",
    variables: variables("_INBOX_PREFIX", "NATS_INBOX_PREFIX")
  })
}

/** Settings that say who the client is; the nearest source that has one of them says it alone. */
export const waysToBeKnown: ReadonlyArray<string> = [
  "creds",
  "nkey",
  "user",
  "password",
  "passwordFile",
  "token",
  "tokenFile"
]
