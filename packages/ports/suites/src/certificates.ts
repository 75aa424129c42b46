/**
 * X.509 certificates for tests: an authority, and what it signed. Keys and signatures are Node's;
 * only the few structures around them (RFC 5280, DER) are written here, so that no test needs a
 * program that may not be installed.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"
import { isIP } from "node:net"

/** A certificate with its private key, as the text of PEM files. */
export interface TestCertificate {
  readonly cert: string
  readonly key: string
}

/** What a certificate says. */
export interface CertificateRequest {
  /** Host names and addresses (IPv4) that it is for. */
  readonly names: ReadonlyArray<string>
  readonly notBefore?: Date
  readonly notAfter?: Date
}

/** An authority of a test. */
export interface TestAuthority {
  /** Its own certificate. */
  readonly cert: string
  /** Makes a key and signs its certificate, valid for a day unless it is said otherwise. */
  readonly issue: (request: CertificateRequest) => TestCertificate
}

const dayMs = 86_400_000

/** One element in DER: its tag, its length, what it holds. */
const element = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const head =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), content])
}

const sequence = (...parts: ReadonlyArray<Uint8Array>) => element(0x30, ...parts)
const integer = (bytes: Uint8Array) => element(0x02, bytes)
const octets = (content: Uint8Array) => element(0x04, content)
const bits = (content: Uint8Array) => element(0x03, Buffer.from([0]), content)
const yes = element(0x01, Buffer.from([0xff]))

/** Object identifiers by the bytes of their DER content. */
const identifiers = {
  commonName: "550403",
  basicConstraints: "551d13",
  subjectKeyIdentifier: "551d0e",
  authorityKeyIdentifier: "551d23",
  subjectAltName: "551d11",
  ecdsaWithSha256: "2a8648ce3d040302"
} as const

const identifier = (name: keyof typeof identifiers) =>
  element(0x06, Buffer.from(identifiers[name], "hex"))

const nameOf = (commonName: string) =>
  sequence(
    element(0x31, sequence(identifier("commonName"), element(0x0c, Buffer.from(commonName))))
  )

/** UTCTime, which RFC 5280 wants until 2049. */
const time = (date: Date) =>
  element(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replaceAll(/[-:T]/g, "")}Z`))

const alternative = (name: string) =>
  isIP(name) === 0
    ? element(0x82, Buffer.from(name))
    : element(0x87, Buffer.from(name.split(".").map(Number)))

const extension = (
  name: keyof typeof identifiers,
  content: Uint8Array,
  isCritical: boolean = false
) => sequence(identifier(name), ...(isCritical ? [yes] : []), octets(content))

interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const newKeyPair = (): KeyPair => generateKeyPairSync("ec", { namedCurve: "prime256v1" })

const spkiOf = ({ publicKey }: KeyPair) => publicKey.export({ type: "spki", format: "der" })
const keyIdOf = (pair: KeyPair) => createHash("sha1").update(spkiOf(pair)).digest()

const certificateOf = (options: {
  readonly issuer: { readonly name: string; readonly pair: KeyPair }
  readonly subject: { readonly name: string; readonly pair: KeyPair; readonly isAuthority: boolean }
  readonly request: CertificateRequest
}): string => {
  const { issuer, request, subject } = options
  const algorithm = sequence(identifier("ecdsaWithSha256"))
  const names = request.names.map(alternative)
  const notBefore = request.notBefore ?? new Date(Date.now() - 60_000)
  const notAfter = request.notAfter ?? new Date(Date.now() + dayMs)
  const toBeSigned = sequence(
    element(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    nameOf(issuer.name),
    sequence(time(notBefore), time(notAfter)),
    nameOf(subject.name),
    spkiOf(subject.pair),
    element(
      0xa3,
      sequence(
        extension("basicConstraints", subject.isAuthority ? sequence(yes) : sequence(), true),
        extension("subjectKeyIdentifier", octets(keyIdOf(subject.pair))),
        extension("authorityKeyIdentifier", sequence(element(0x80, keyIdOf(issuer.pair)))),
        ...(names.length === 0 ? [] : [extension("subjectAltName", sequence(...names))])
      )
    )
  )
  const signature = sign("sha256", toBeSigned, issuer.pair.privateKey)
  const whole = sequence(toBeSigned, algorithm, bits(signature)).toString("base64")
  const lines = whole.match(/.{1,64}/g) ?? []
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n")
}

/** Makes an authority. */
export const makeAuthority = (name: string = "holdfast test authority"): TestAuthority => {
  const pair = newKeyPair()
  const issuer = { name, pair }
  return {
    cert: certificateOf({
      issuer,
      subject: { ...issuer, isAuthority: true },
      request: { names: [] }
    }),
    issue: (request) => {
      const own = newKeyPair()
      const subject = { name: "holdfast test", pair: own, isAuthority: false }
      return {
        cert: certificateOf({ issuer, subject, request }),
        key: own.privateKey.export({ type: "pkcs8", format: "pem" }).toString()
      }
    }
  }
}
