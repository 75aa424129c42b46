/**
 * A process for tests that end it without warning, or that might end it: it opens a journal and
 * says on standard output what was answered.
 *
 *     node appending-process.ts <log|lmdb> append <directory> <appends> <entries an append>
 *     node appending-process.ts <log|lmdb> recover <directory> ...
 */
import { Journal } from "@holdfast/storage"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { writeSync } from "node:fs"
import { fileJournal } from "../file-journal.ts"
import { lmdbJournal } from "../lmdb-journal.ts"

const [kind = "", mode = "", ...rest] = process.argv.slice(2)
const journalIn = kind === "lmdb" ? lmdbJournal : fileJournal
const STANDARD_OUTPUT = 1

const say = (line: string): void => {
  writeSync(STANDARD_OUTPUT, `${line}\n`)
}

/** An entry of some length that says its number. */
const entryOf = (number: number): Uint8Array =>
  Buffer.from(`${number} `.padEnd(50 + (number % 400), "."))

const append = Effect.fnUntraced(function* (
  journal: Journal["Service"],
  options: { readonly appends: number; readonly entries: number }
) {
  say("open")
  let number = 0
  for (let round = 0; round < options.appends; round++) {
    const batch = Array.from({ length: options.entries }, () => entryOf(number++))
    yield* journal.append(batch)
    say(`${number}`)
  }
})

const recover = Effect.fnUntraced(function* (journal: Journal["Service"]) {
  const contents = yield* journal.recover
  const found = yield* Stream.runCollect(contents.entries)
  const numbers = found.map((entry) => Number(Buffer.from(entry).toString().split(" ")[0]))
  const isDense = numbers.every((number, index) => number === index)
  say(`${isDense ? "dense" : "with holes"} ${numbers.length}`)
})

const withJournal = <E extends { readonly code: string }>(
  directory: string,
  use: (journal: Journal["Service"]) => Effect.Effect<void, E>
): Promise<void> =>
  Effect.flatMap(Layer.build(journalIn({ directory })), (context) =>
    use(Context.get(context, Journal))
  ).pipe(
    Effect.scoped,
    Effect.catch(({ code }) => Effect.sync(() => say(`refused ${code}`))),
    Effect.runPromise
  )

if (mode === "recover") {
  for (const directory of rest) await withJournal(directory, recover)
} else {
  const [directory = "", appends = "0", entries = "1"] = rest
  const options = { appends: Number(appends), entries: Number(entries) }
  await withJournal(directory, (journal) => append(journal, options))
}
