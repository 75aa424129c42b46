/** Every `holdfast` command and flag that the documents show exists, by the command line's help. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { TestConsole } from "effect/testing"
import { expect, it } from "vitest"
import { holdfastCommand } from "../../../apps/holdfast/src/holdfast-command.ts"
import { filesMatching, readText } from "./repository.ts"
import { commandsOf, scriptsOf, type ShownCommand } from "./shell-blocks.ts"

/** What the command line says. */
const outputOf = (words: ReadonlyArray<string>): Promise<string> =>
  Command.runWith(holdfastCommand, { version: "0" })(words).pipe(
    Effect.andThen(TestConsole.logLines),
    Effect.map((lines) => lines.map(String).join("\n")),
    Effect.provide(Layer.mergeAll(NodeServices.layer, TestConsole.layer)),
    Effect.runPromise
  )

interface Help {
  readonly subcommands: ReadonlySet<string>
  readonly flags: ReadonlySet<string>
}

const helps = new Map<string, Promise<Help>>()

/** What `--help` of a command names, asked once. */
const helpOf = (path: ReadonlyArray<string>): Promise<Help> => {
  const key = path.join(" ")
  const known = helps.get(key)
  if (known !== undefined) return known
  const asked = outputOf([...path, "--help"]).then((stdout) => {
    const [, listed = ""] = /\nSUBCOMMANDS\n([\s\S]*?)(?:\n\n|$)/.exec(stdout) ?? []
    return {
      subcommands: new Set([...listed.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = ""]) => name)),
      flags: new Set(stdout.match(/^ {2}--[a-z-]+|, -[a-z]\b/gm)?.map((flag) => flag.slice(2)))
    }
  })
  helps.set(key, asked)
  return asked
}

/** What is wrong with a command, or undefined. */
const faultOf = async ({ place, words }: ShownCommand): Promise<string | undefined> => {
  const path: Array<string> = []
  for (const word of words) {
    const { subcommands } = await helpOf(path)
    if (subcommands.has(word)) path.push(word)
    else if (path.length === 0 && !word.startsWith("-")) return `no command ${word}: ${place}`
    else break
  }
  const { flags } = await helpOf(path)
  const unknown = words
    .slice(path.length)
    .filter((word) => /^--?[a-z]/.test(word))
    .map((word) => word.replace(/=.*$/, ""))
    .filter((flag) => !flags.has(flag))
  return unknown.length === 0 ? undefined : `no ${unknown.join(", ")}: ${place}`
}

const documents = filesMatching(
  /^(README\.md|docs\/[a-z-]+\.(md|yaml)|apps\/holdfast\/README\.md)$/
)

it("shows commands and flags that exist", async () => {
  const shown = documents.flatMap(({ path, text }) => commandsOf(path, text))
  expect(shown.length).toBeGreaterThan(40)
  const faults: Array<string> = []
  for (const command of shown) {
    const fault = await faultOf(command)
    if (fault !== undefined) faults.push(fault)
  }
  expect(faults).toEqual([])
}, 60_000)

it("shows files of settings whose keys exist", async () => {
  const { flags } = await helpOf(["chunk-server"])
  const [, block = ""] = /^```json\n([\s\S]*?)^```/m.exec(readText("docs/operate.md")) ?? []
  const keys = Object.keys(JSON.parse(block))
  expect(keys.length).toBeGreaterThan(8)
  expect(keys.filter((key) => !flags.has(`--${key}`))).toEqual([])
})

it("shows scripts of the package that exist", () => {
  const known = new Set(Object.keys(JSON.parse(readText("package.json")).scripts))
  const shown = documents.flatMap(({ text }) => scriptsOf(text))
  expect(shown.filter((name) => !known.has(name))).toEqual([])
})

it("would notice a command, a flag and a script that do not exist", async () => {
  const text =
    "```sh\nnpx holdfast archve list\nholdfast archive add S --keeep 1d | wc\nnpm run nix\n```\n"
  const commands = commandsOf("x.md", text)
  const faults = await Promise.all(commands.map(faultOf))
  expect(faults.map((fault) => fault?.split(":")[0])).toEqual(["no command archve", "no --keeep"])
  expect(scriptsOf(text)).toEqual(["nix"])
}, 60_000)
