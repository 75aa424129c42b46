/**
 * The directories of a peer and of a metadata service, as a cluster has left them: damaged, then
 * opened by the service. What it cannot read it refuses or lays aside, in words; it never dies.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { damageFile } from "../damage-file.ts"
import type { Random } from "../random.ts"
import type { StoreKind, StoreOrder, StoreReport } from "../stores/store-orders.ts"
import type { Target } from "../target.ts"

const execArgv = ["--conditions=@holdfast/source", "--disable-warning=ExperimentalWarning"]
const processFile = join(import.meta.dirname, "..", "stores", "store-process.ts")
const outputMax = 4_000

interface Opener {
  readonly tell: (order: StoreOrder) => Promise<StoreReport>
  readonly isAlive: () => boolean
}

const startOpener = (): Opener => {
  const child: ChildProcess = fork(processFile, { execArgv, silent: true })
  let said = ""
  let ended: string | undefined
  child.stderr?.on("data", (text: Buffer) => {
    said = (said + text.toString("utf8")).slice(-outputMax)
  })
  // An opener that waits for its next case does not keep this process; one that works does.
  const keep = (isWorking: boolean): void => {
    const change = isWorking ? "ref" : "unref"
    child[change]()
    child.channel?.[change]()
  }
  const exited = once(child, "close").then(([status, signal]): StoreReport => {
    ended = `the process ended with ${String(signal ?? status)}: ${said}`
    return { _tag: "Faulty", text: ended }
  })
  return {
    isAlive: () => ended === undefined,
    tell: (order) => {
      const answer = once(child, "message").then(([report]): StoreReport => report)
      keep(true)
      child.send(order)
      return Promise.race([answer, exited]).finally(() => keep(false))
    }
  }
}

let opener: Opener | undefined
const theOpener = (): Opener => {
  if (opener?.isAlive() !== true) opener = startOpener()
  return opener
}

type Sound = Readonly<Record<StoreKind, string>>

const makeSound = async (): Promise<Sound> => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-fuzz-stores-"))
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }))
  const report = await theOpener().tell({ _tag: "Make", directory })
  if (report._tag !== "Made") throw new Error(`no sound stores were made: ${textOf(report)}`)
  return report
}

const textOf = (report: StoreReport): string => (report._tag === "Faulty" ? report.text : "")

let sound: Promise<Sound> | undefined

/** Files that hold something; those that only mark the directory as taken have no content. */
const filesIn = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => statSync(file).size > 0)
    .sort()

const turnsOfStores = 12

const storeTarget = (kind: StoreKind, takes: string): Target => ({
  name: `${kind}-directory`,
  takes,
  turns: turnsOfStores,
  prepare: async () => {
    sound ??= makeSound()
    await sound
  },
  run: async (random: Random) => {
    sound ??= makeSound()
    const from = (await sound)[kind]
    const place = mkdtempSync(join(tmpdir(), "holdfast-fuzz-case-"))
    try {
      cpSync(from, place, { recursive: true })
      for (let left = 1 + random.below(2); left > 0; left -= 1) {
        const files = filesIn(place)
        if (files.length === 0) break
        const file = random.pick(files)
        if (random.below(16) === 0) rmSync(file)
        else damageFile(file, random)
      }
      const report = await theOpener().tell({ _tag: "Open", kind, directory: place })
      if (report._tag === "Faulty") throw new Error(report.text)
    } finally {
      rmSync(place, { recursive: true, force: true })
    }
  }
})

/** The directories that services keep their truth in. */
export const storeTargets: ReadonlyArray<Target> = [
  storeTarget("peer", "LMDB files of a peer, opened by the peer"),
  storeTarget("metadata", "logs and snapshots of the metadata journal, opened by its service")
]
