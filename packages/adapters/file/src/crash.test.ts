import { execFileSync, spawn } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import {
  cpSync,
  mkdtempSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const script = fileURLToPath(new URL("testing/appending-process.ts", import.meta.url))
const command = ["--conditions=@holdfast/source", script]

let directory = ""
const children: Array<ChildProcess> = []

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-crash-"))
})

afterAll(() => {
  for (const child of children) child.kill("SIGKILL")
  rmSync(directory, { recursive: true, force: true })
})

/** The two journals: on files of its own, and on LMDB as the other stores are. */
type Kind = "log" | "lmdb"

const startAppending = (
  kind: Kind,
  store: string,
  appends: number,
  entries: number
): ChildProcess => {
  const args = [...command, kind, "append", store, `${appends}`, `${entries}`]
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
  children.push(child)
  return child
}

/** Opens stores one after another in a process of their own; answers what it found in each. */
const recover = (kind: Kind, ...stores: ReadonlyArray<string>): ReadonlyArray<string> =>
  execFileSync(process.execPath, [...command, kind, "recover", ...stores], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"]
  })
    .trim()
    .split("\n")

describe.each(["log", "lmdb"] as const)("a process that is killed, %s", (kind) => {
  it("loses no entry that was answered, keeps whole appends in order and leaves no lock", async () => {
    const store = join(directory, `killed-${kind}`)
    const child = startAppending(kind, store, 1_000_000, 3)
    const ended = new Promise((resolve) => child.once("exit", resolve))
    let answered = 0
    let whileItLived: ReadonlyArray<string> = []
    if (child.stdout === null) throw new Error("the process has no output")
    for await (const line of createInterface({ input: child.stdout })) {
      answered = line === "open" ? 0 : Number(line)
      if (answered === 30) whileItLived = recover(kind, store)
      if (answered === 900) child.kill("SIGKILL")
    }
    await ended
    expect(whileItLived).toEqual(["refused locked"])
    const [shape = "", count = ""] = (recover(kind, store)[0] ?? "").split(" ")
    expect(shape).toBe("dense")
    expect(Number(count)).toBeGreaterThanOrEqual(answered)
    expect(Number(count) % 3).toBe(0)
  }, 60_000)
})

describe("peer-T44: a data file that is not what it was", () => {
  const harms: ReadonlyArray<readonly [what: string, harm: (store: string) => void]> = [
    ["untouched", () => undefined],
    ...[0.95, 0.8, 0.6, 0.4, 0.2].map((part): (typeof harms)[number] => [
      `cut to ${part} of its length`,
      (store) => {
        const file = join(store, "data.mdb")
        truncateSync(file, Math.floor(statSync(file).size * part))
      }
    ]),
    ["cut to one page", (store) => truncateSync(join(store, "data.mdb"), 4_096)],
    ["emptied", (store) => truncateSync(join(store, "data.mdb"), 0)],
    ["removed", (store) => unlinkSync(join(store, "data.mdb"))],
    [
      "another program's",
      (store) => writeFileSync(join(store, "data.mdb"), Buffer.alloc(65_536, "no database"))
    ],
    [
      "beside a damaged lock file",
      (store) => writeFileSync(join(store, "lock.mdb"), Buffer.alloc(8_192, "no lock"))
    ]
  ]
  const found = new Map<string, string>()

  beforeAll(async () => {
    const filled = join(directory, "filled")
    const child = startAppending("lmdb", filled, 40, 25)
    await new Promise((resolve) => child.once("exit", resolve))
    const stores = harms.map(([what, harm], index) => {
      const store = join(directory, `harm-${index}`)
      cpSync(filled, store, { recursive: true })
      harm(store)
      return [what, store] as const
    })
    const answers = recover("lmdb", ...stores.map(([, store]) => store))
    for (const [index, [what]] of stores.entries()) found.set(what, answers[index] ?? "nothing")
  }, 60_000)

  for (const [what] of harms) {
    const isWhole = what === "untouched" || what.startsWith("beside")
    it(`${what}: is ${isWhole ? "read whole" : "refused as corrupt, and the process lives"}`, () => {
      expect(found.get(what)).toBe(isWhole ? "dense 1000" : "refused corrupt")
    })
  }
})
