/**
 * How often this host's process was started: a number in its state directory that is raised durably
 * before anything is said under it.
 */
import { mkdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { replaceFile } from "@holdfast/adapter-file"
import { type CommandFailure, failure, sentenceOf } from "@holdfast/process"
import { Effect, Predicate } from "effect"

const fileName = "incarnation"

/** Raises the number and answers it; the first one is 1. */
export const raiseIncarnation = (directory: string): Effect.Effect<number, CommandFailure> =>
  Effect.tryPromise({
    try: () => raise(directory),
    catch: (cause) =>
      failure(`the incarnation in ${directory} cannot be raised: ${sentenceOf(cause)}`)
  })

const raise = async (directory: string): Promise<number> => {
  await mkdir(directory, { recursive: true })
  const file = join(directory, fileName)
  const next = (await readLast(file)) + 1
  await replaceFile(file, Buffer.from(`${next}\n`))
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
