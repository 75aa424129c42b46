/** What it means when TLS ends a connection, as a sentence that says what would be right. */
import { Predicate } from "effect"

const untrusted =
  "its certificate was not signed by an authority that is trusted here; name that authority"

/** What Node and OpenSSL call it, and what it means. */
const meanings: ReadonlyMap<string, string> = new Map([
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", untrusted],
  ["UNABLE_TO_GET_ISSUER_CERT", untrusted],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", untrusted],
  ["SELF_SIGNED_CERT_IN_CHAIN", untrusted],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", untrusted],
  ["CERT_SIGNATURE_FAILURE", untrusted],
  ["CERT_UNTRUSTED", untrusted],
  ["INVALID_CA", untrusted],
  ["CERT_HAS_EXPIRED", "its certificate has expired; renew it"],
  ["CERT_NOT_YET_VALID", "its certificate is not valid yet; are both clocks right?"],
  ["INVALID_PURPOSE", "its certificate is not made for this use"],
  ["EPROTO", "it does not speak TLS as this side does; does its address begin with http://?"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "it does not speak TLS; does its address begin with http://?"],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "it demands a certificate of its clients"]
])

const codeOf = (error: unknown): string => {
  const code = Predicate.hasProperty(error, "code") ? error.code : undefined
  return typeof code === "string" ? code : ""
}

/** Why a connection to a server is not trusted; nothing when TLS is not what ended it. */
export const tlsFailureOf = (error: unknown): string | undefined => {
  const code = codeOf(error)
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    const reason = Predicate.hasProperty(error, "reason") ? String(error.reason) : ""
    return `its certificate is for another host: ${reason}`
  }
  const meaning = meanings.get(code)
  if (meaning !== undefined) return meaning
  return code.startsWith("ERR_SSL_") ? `TLS failed: ${alertOf(error)}` : undefined
}

/** OpenSSL's own words for it, without the place in its sources. */
const alertOf = (error: unknown): string =>
  Predicate.hasProperty(error, "reason") ? String(error.reason) : codeOf(error)

/** Why a client's certificate is refused, by the code of its check. */
export const clientRefusalOf = (code: string): string =>
  code === ""
    ? "this chunk server demands a certificate of its clients, and this one has none"
    : `this chunk server refuses the certificate of this client: ${
        meanings.get(code)?.replace(/^its certificate/, "it") ?? code
      }`
