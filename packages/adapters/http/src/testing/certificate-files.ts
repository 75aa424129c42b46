/** Certificates in a folder of a test, which is gone when the test is over. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestCertificate } from "@holdfast/suites/certificates"
import { Effect } from "effect"
import type { TlsFileNames } from "../tls-files.ts"

/** A folder of PEM files. */
export interface CertificateFolder {
  /** Writes a file; answers its path. */
  readonly write: (name: string, text: string, mode?: number) => string
  /** Writes a certificate and its key under a name, and the authority that is trusted. */
  readonly writeAll: (
    name: string,
    parts: { readonly ca?: string; readonly own?: TestCertificate }
  ) => TlsFileNames
}

/** Makes a folder. */
export const certificateFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "holdfast-certificates-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
).pipe(
  Effect.map((folder): CertificateFolder => {
    const write = (name: string, text: string, mode = 0o600) => {
      const path = join(folder, name)
      writeFileSync(path, text, { mode })
      return path
    }
    return {
      write,
      writeAll: (name, { ca, own }) => ({
        ...(ca === undefined ? {} : { caFile: write(`${name}-ca.pem`, ca) }),
        ...(own === undefined
          ? {}
          : { certFile: write(`${name}.pem`, own.cert), keyFile: write(`${name}.key`, own.key) })
      })
    }
  })
)
