import { createPrivateKey } from "node:crypto"
import { chmodSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { makeAuthority } from "@holdfast/suites/certificates"
import { Effect, Option } from "effect"
import { readTlsFiles, type TlsFileNames } from "./tls-files.ts"
import { type CertificateFolder, certificateFolder } from "./testing/certificate-files.ts"

const authority = makeAuthority()
const own = authority.issue({ names: ["h1.example", "10.0.0.1"] })
const hour = 3_600_000
const ago = (hours: number) => new Date(Date.now() - hours * hour)

const encrypted = createPrivateKey(own.key)
  .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "hush" })
  .toString()

const faults: ReadonlyArray<
  readonly [
    name: string,
    files: (folder: CertificateFolder) => TlsFileNames,
    code: string,
    words: RegExp
  ]
> = [
  [
    "a file that is not there",
    (folder) => ({ caFile: `${folder.write("x", "")}.none` }),
    "unreadable",
    /x\.none does not exist$/
  ],
  ["a folder", () => ({ caFile: "/tmp" }), "unreadable", /^\/tmp (is no file|cannot be read)/],
  [
    "an authority that is no certificate",
    (folder) => folder.writeAll("a", { ca: "hush" }),
    "malformed",
    /a-ca\.pem holds no certificate; a PEM file is wanted$/
  ],
  [
    "a certificate that is cut",
    (folder) => folder.writeAll("a", { ca: authority.cert.replace(/\n[^\n]{64}\n/, "\n") }),
    "malformed",
    /a-ca\.pem holds a certificate that cannot be read$/
  ],
  [
    "a file that is too large",
    (folder) => folder.writeAll("a", { ca: "x".repeat(1_100_000) }),
    "malformed",
    /larger than 1048576 bytes/
  ],
  [
    "a certificate without a key",
    (folder) => ({ certFile: folder.write("a.pem", own.cert) }),
    "mismatched",
    /belong together/
  ],
  [
    "another certificate's key",
    (folder) =>
      folder.writeAll("a", {
        own: { cert: own.cert, key: authority.issue({ names: ["a"] }).key }
      }),
    "mismatched",
    /a\.key is not the key of the certificate in .*a\.pem$/
  ],
  [
    "a key with a passphrase",
    (folder) => folder.writeAll("a", { own: { ...own, key: encrypted } }),
    "malformed",
    /a\.key holds no private key; a PEM file without passphrase is wanted$/
  ],
  [
    "a certificate that has expired",
    (folder) =>
      folder.writeAll("a", {
        own: authority.issue({ names: ["a"], notBefore: ago(9), notAfter: ago(1) })
      }),
    "not-valid-now",
    /a\.pem expired at 20\d\d-.*; renew it$/
  ],
  [
    "a certificate of tomorrow",
    (folder) =>
      folder.writeAll("a", {
        own: authority.issue({ names: ["a"], notBefore: ago(-2), notAfter: ago(-9) })
      }),
    "not-valid-now",
    /valid from .* on; is this machine's clock right\?$/
  ]
]

describe("the files of certificates", () => {
  for (const [name, files, code, words] of faults) {
    it.effect(`${name} is refused as ${code}, without quoting it`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(readTlsFiles(files(yield* certificateFolder)))
        assert.strictEqual(error.code, code)
        assert.match(error.message, words)
        assert.notMatch(error.message, /hush|BEGIN|error:0/)
      })
    )
  }

  it.effect("a key that everyone may read is refused; its group may read it", () =>
    Effect.gen(function* () {
      const names = (yield* certificateFolder).writeAll("a", { own })
      chmodSync(names.keyFile ?? "", 0o640)
      yield* readTlsFiles(names)
      chmodSync(names.keyFile ?? "", 0o644)
      const error = yield* Effect.flip(readTlsFiles(names))
      assert.match(error.message, /a\.key may be read by everyone; run: chmod o-rwx .*a\.key$/)
    })
  )

  it.effect("what is right says for whom it is and until when", () =>
    Effect.gen(function* () {
      const folder = yield* certificateFolder
      const { identity } = yield* readTlsFiles(folder.writeAll("a", { ca: authority.cert, own }))
      assert.deepStrictEqual(
        ["h1.example", "10.0.0.1", "h2.example", "10.0.0.2", "[::1]"].map(
          (host) => Option.isSome(identity) && identity.value.isFor(host)
        ),
        [true, true, false, false, false]
      )
      const validFor = Option.isSome(identity)
        ? identity.value.validUntil.getTime() - Date.now()
        : 0
      assert.isTrue(validFor > 23 * hour && validFor < 25 * hour)
    })
  )
})
