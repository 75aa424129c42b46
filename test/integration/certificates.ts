/** An authority, and certificates that it signed, as files of a test. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeAuthority, type TestCertificate } from "@holdfast/suites/certificates"

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** Paths of PEM files, and the authority behind them. */
export interface Certificates {
  readonly authority: string
  readonly server: CertificateFiles
  readonly client: CertificateFiles
  /** Signs another certificate for this machine and puts it where the server's is. */
  readonly renew: () => TestCertificate
}

const here = { names: ["127.0.0.1", "localhost"] }

/** Makes them in a folder, under names that begin so; they last for a day. */
export const makeCertificates = (folder: string, prefix: string = ""): Certificates => {
  const authority = makeAuthority()
  const write = (name: string, text: string): string => {
    const path = join(folder, `${prefix}${name}`)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  const issue = (name: string): TestCertificate & { readonly files: CertificateFiles } => {
    const made = authority.issue(here)
    const files = { cert: write(`${name}.pem`, made.cert), key: write(`${name}.key`, made.key) }
    return { ...made, files }
  }
  return {
    authority: write("ca.pem", authority.cert),
    server: issue("server").files,
    client: issue("client").files,
    renew: () => issue("server")
  }
}
