/** `holdfast aggregate` as a process: files, standard input, and its status on bad input. */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { holdfast } from "./process.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-aggregate-"))
const lines =
  '{"partitionKey":"10","explicitHashKey":null,"data":"first"}\n' +
  '{"partitionKey":"2","explicitHashKey":"7","dataBase64":"/w=="}\n'

const large = join(folder, "large")
writeFileSync(large, "")
truncateSync(large, 64 * 1_024 * 1_024 + 1)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

it("makes a record of standard input, and prints what is in it, from a file or not", async () => {
  const made = await holdfast(["aggregate", "encode", "-"], { input: lines })
  expect(made).toMatchObject({ status: 0, stderr: "" })
  const file = join(folder, "record")
  writeFileSync(file, made.stdout)
  const [fromFile, fromInput] = await Promise.all([
    holdfast(["aggregate", "decode", file]),
    holdfast(["aggregate", "decode", "-"], { input: made.stdout })
  ])
  expect(fromFile).toMatchObject({ status: 0, stdout: lines })
  expect(fromInput).toMatchObject({ status: 0, stdout: lines })
})

it.each([
  { args: ["decode", "-"], input: "plain text", sentence: "the record is no aggregate." },
  { args: ["encode", "-"], input: '{"partitionKey":"a"}', sentence: "line 1 needs either data" },
  { args: ["decode", join(folder, "none")], input: "", sentence: "cannot be read: ENOENT" },
  { args: ["decode", large], input: "", sentence: "has more than 67108864 bytes" }
])("says $sentence with a status of 1", async ({ args, input, sentence }) => {
  const { status, stderr, stdout } = await holdfast(["aggregate", ...args], { input })
  expect(status).toBe(1)
  expect(stdout).toBe("")
  expect(stderr).toContain(`holdfast: `)
  expect(stderr).toContain(sentence)
  expect(stderr.trim().split("\n")).toHaveLength(1)
})
