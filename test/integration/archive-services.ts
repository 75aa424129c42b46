/** The services of a small archive as processes of their own, over a NATS server of the test's. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type NatsServer, startNatsServer } from "./nats-server.ts"
import { eventually, holdfast, type Running, start } from "./process.ts"

/** Services that run. */
export interface ArchiveServices {
  readonly server: NatsServer
  /** The flags that name the cluster. */
  readonly common: ReadonlyArray<string>
  /** Starts a further process and waits until it is ready; it is ended with the others. */
  readonly launch: (args: ReadonlyArray<string>) => Promise<Running>
  /** Has a process that was started otherwise ended with the others. */
  readonly adopt: (process: Running) => void
  readonly stop: () => Promise<void>
}

/** Starts one metadata service, two chunk servers and one peer, and waits until they serve. */
export const startArchiveServices = async (name: string): Promise<ArchiveServices> => {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-${name}-`))
  const server = await startNatsServer()
  const common = ["--cluster", "test", "--nats", server.url]
  const running: Array<Running> = []
  const launch = async (args: ReadonlyArray<string>): Promise<Running> => {
    const process = start([...args, ...common])
    running.push(process)
    await process.said("is ready", 120_000)
    return process
  }
  const keyFile = join(folder, "key")
  writeFileSync(keyFile, `${"ab".repeat(32)}\n`, { mode: 0o600 })
  mkdirSync(join(folder, "devices"))
  const key = ["--key-file", keyFile]
  const data = (of: string): ReadonlyArray<string> => ["--data", join(folder, of)]
  // Nothing is archived in safe mode; every host is there from the beginning.
  const metadata = ["--free-mib", "16", "--safe-mode-extension-ms", "1000"]
  await launch(["metadata", ...key, ...data("metadata"), ...metadata])
  const hosts = ["h1", "h2"].map((id) => {
    const device = ["--device", join(folder, "devices", id)]
    const host = ["--id", id, "--format", "--reserved-mib", "16"]
    return launch(["chunk-server", ...key, ...host, ...data(id), ...device])
  })
  await Promise.all([...hosts, launch(["peer", "--id", "p1", "--peers", "p1", ...data("p1")])])
  return {
    server,
    common,
    launch,
    adopt: (process) => void running.push(process),
    stop: async () => {
      for (const one of running) one.kill("SIGKILL")
      await Promise.all(running.map((one) => one.exited))
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** Adds an archive, as soon as the services let it be added. */
export const addArchive = (
  { common }: ArchiveServices,
  args: ReadonlyArray<string>
): Promise<true> =>
  eventually(
    "the archive is added",
    async () =>
      (await holdfast(["archive", "add", ...args, ...common])).status === 0 ? true : undefined,
    60_000
  )
