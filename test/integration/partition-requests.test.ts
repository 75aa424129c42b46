/** An application on three peers over NATS, used from the command line alone. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type NatsServer, startNatsServer } from "./nats-server.ts"
import { eventually, type Finished, holdfast, type Running, start } from "./process.ts"

const limitMs = 60_000
const names = ["p1", "p2", "p3"]
const folder = mkdtempSync(join(tmpdir(), "holdfast-requests-"))
const processes = new Map<string, Running>()
const add = (number: number): string => JSON.stringify({ add: number })
const keyOf = (digit: string): string => digit.repeat(64)

let server: NatsServer

const partitions = (...args: ReadonlyArray<string>): Promise<Finished> =>
  holdfast(["partitions", ...args, "--nats", server.url, "--application", "counter"], { limitMs })

const linesOf = ({ status, stderr, stdout }: Finished): ReadonlyArray<string> => {
  expect(stderr).toBe("")
  expect(status).toBe(0)
  return stdout.trim().split("\n")
}

beforeAll(async () => {
  server = await startNatsServer()
  await Promise.all(
    names.map(async (peer) => {
      const data = ["--data", join(folder, peer), "--application", "counter"]
      const founders = ["--peers", names.join(",")]
      const running = start(["peer", "--nats", server.url, "--id", peer, ...data, ...founders])
      processes.set(peer, running)
      await running.said("is ready", limitMs)
    })
  )
}, 120_000)

afterAll(async () => {
  for (const running of processes.values()) running.kill("SIGKILL")
  await Promise.all([...processes.values()].map(({ exited }) => exited))
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

it("events are applied once by the request's name, and read where they were not sent", async () => {
  const request = [
    "request",
    keyOf("a"),
    "--event",
    add(5),
    "--event",
    add(2),
    "--request-id",
    "one"
  ]
  expect(linesOf(await partitions(...request))).toEqual(linesOf(await partitions(...request)))
  const [state = ""] = linesOf(await partitions("read", keyOf("a"), "--json"))
  expect(JSON.parse(state)).toMatchObject({ key: keyOf("a") })
  expect(state).toContain("7")
})

it("the index is walked over all partitions, in order", async () => {
  for (const digit of ["3", "1", "2"]) {
    linesOf(
      await partitions("request", keyOf(digit), "--event", add(Number(digit)), "--concern", "all")
    )
  }
  const walk = await partitions("index", "--from", "", "--to", "\\xff", "--state", "--json")
  const records = linesOf(walk).map((line) => JSON.parse(line))
  const places: ReadonlyArray<string> = records.map(({ key, tag }) => `${tag} ${key}`)
  expect(records.length).toBeGreaterThanOrEqual(3)
  expect(places).toEqual(places.toSorted((left, right) => (left < right ? -1 : 1)))
})

it("one partition is shown with what is pending in it, and by whom that is held", async () => {
  processes.get("p3")?.kill("SIGKILL")
  linesOf(await partitions("request", keyOf("b"), "--event", add(4)))
  const shown = await eventually(
    "two hold the pending event",
    async () => {
      const { status, stdout } = await partitions("show", keyOf("b"), "--peer", "p1", "--json")
      if (status !== 0) return undefined
      const view = JSON.parse(stdout)
      return view.history[0]?.heldBy.length === 2 ? view : undefined
    },
    limitMs
  )
  expect(shown).toMatchObject({ birthEpoch: 0, isProvisional: false, pending: 1 })
  expect(shown.history).toMatchObject([{ kind: "event", events: [{ add: 4 }] }])
}, 120_000)

it("what is wrong is said in a sentence", async () => {
  for (const [args, sentence] of [
    [["request", keyOf("a"), "--event", "five"], "is no JSON"],
    [["request", keyOf("a"), "--event", '"five"'], "invalid-event"],
    [["read", keyOf("9")], "has no partition"],
    [["read", "99"], "is no partition key"],
    [["index", "--from", "a\\b"], "A lone backslash"]
  ] as const) {
    const { status, stderr } = await partitions(...args)
    expect(status, args.join(" ")).not.toBe(0)
    expect(stderr).toContain(sentence)
  }
}, 120_000)
