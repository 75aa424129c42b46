/**
 * How often this host's process was started: a number in its state directory that is raised durably
 * before anything is said under it.
 */
import { mkdir, open, readFile, rename } from "node:fs/promises"
import { join } from "node:path"
import { type CommandFailure, failure } from "@holdfast/process"
import { Effect, Predicate } from "effect"

const fileName = "incarnation"

/** Raises the number and answers it; the first one is 1. */
export const raiseIncarnation = (directory: string): Effect.Effect<number, CommandFailure> =>
  Effect.tryPromise({
    try: () => raise(directory),
    catch: (cause) =>
      failure(`the incarnation in ${directory} cannot be raised: ${messageOf(cause)}`)
  })

const raise = async (directory: string): Promise<number> => {
  await mkdir(directory, { recursive: true })
  const file = join(directory, fileName)
  const next = (await readLast(file)) + 1
  const temporary = `${file}.new`
  const handle = await open(temporary, "w")
  try {
    await handle.writeFile(`${next}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file)
  const folder = await open(directory, "r")
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
  return next
}

const readLast = async (file: string): Promise<number> => {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    if (Predicate.hasProperty(cause, "code") && cause.code === "ENOENT") return "0"
    throw cause
  })
  if (!/^\d{1,15}\n?$/.test(text)) {
    throw new Error(`${file} holds no number; put a number there that no earlier start has had`)
  }
  return Number(text)
}

const messageOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause)
