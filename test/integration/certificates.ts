/** An authority, and certificates that it signed, made with `openssl` for a test. */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"

/** Paths of PEM files. */
export interface Certificates {
  readonly authority: string
  readonly server: { readonly cert: string; readonly key: string }
  readonly client: { readonly cert: string; readonly key: string }
}

const openssl = (folder: string, ...args: ReadonlyArray<string>): void => {
  execFileSync("openssl", args, { cwd: folder, stdio: "pipe" })
}

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

/** Makes them in a folder; they last for a day. */
export const makeCertificates = (folder: string): Certificates => {
  const at = (name: string): string => join(folder, name)
  const subject = ["-subj", "/CN=holdfast-test"]
  openssl(folder, "req", "-x509", ...newKey, ...subject, "-days", "1", ...out("ca"))
  writeFileSync(at("names"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n")
  for (const name of ["server", "client"]) {
    openssl(folder, "req", ...newKey, "-subj", `/CN=${name}`, ...out(name, "csr"))
    const issuer = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "1"]
    const files = ["-in", `${name}.csr`, "-out", `${name}.pem`, "-extfile", "names"]
    openssl(folder, "x509", "-req", ...issuer, ...files)
  }
  return {
    authority: at("ca.pem"),
    server: { cert: at("server.pem"), key: at("server.key") },
    client: { cert: at("client.pem"), key: at("client.key") }
  }
}

const out = (name: string, extension = "pem"): ReadonlyArray<string> => [
  "-keyout",
  `${name}.key`,
  "-out",
  `${name}.${extension}`
]
