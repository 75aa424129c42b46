/**
 * The `holdfast` commands that a document shows: in its fenced shell blocks and its sentences, in the
 * units that it gives to systemd, and in the services that it gives to compose.
 */

/** A command as it is shown: its words behind `holdfast`, and where it stands. */
export interface ShownCommand {
  readonly words: ReadonlyArray<string>
  readonly place: string
}

/** A command in the middle of a sentence. */
const inline = /`holdfast ([^`]+)`/g
const fence = /^```(sh|ini)\n([\s\S]*?)^```/gm

/** The commands of a Markdown text. */
export const commandsOf = (path: string, text: string): ReadonlyArray<ShownCommand> => {
  const blocks = path.endsWith(".md")
    ? [...text.matchAll(fence)].map(([, kind = "", body = ""]) => ({ kind, body }))
    : [{ kind: "compose", body: text }]
  const named = path.endsWith(".md") ? [...text.matchAll(inline)] : []
  return [
    ...blocks.flatMap(({ body, kind }) =>
      linesOf(body).flatMap((line) =>
        commandsIn(kind, line).map((words) => ({ words, place: `${path}: ${line.trim()}` }))
      )
    ),
    ...named.map(([, line = ""]) => ({ words: wordsOf(line), place: `${path}: ${line}` }))
  ]
}

/** Lines as a shell reads them: those that end in a backslash go on. */
const linesOf = (body: string): ReadonlyArray<string> => body.replace(/\\\n\s*/g, "").split("\n")

const commandsIn = (kind: string, line: string): ReadonlyArray<ReadonlyArray<string>> => {
  switch (kind) {
    case "compose": {
      const list = /^ {4}command: (\[.*\])$/.exec(line)?.[1]
      const words = list === undefined ? [] : (JSON.parse(list) as ReadonlyArray<string>)
      // The image of the NATS server takes flags alone.
      return words.length > 0 && !words[0]?.startsWith("--") ? [words] : []
    }
    case "ini": {
      const started = /^ExecStart=\S*\/holdfast (.*)$/.exec(line)?.[1]
      return started === undefined ? [] : [wordsOf(started)]
    }
    default:
      return line.split(/\s*(?:&&|\|\||[|;])\s*/).flatMap((part) => {
        const called = /^(?:npx )?holdfast (.*)$|^npm start -- (.*)$/.exec(part.trim())
        return called === null ? [] : [wordsOf(called[1] ?? called[2] ?? "")]
      })
  }
}

/** Words up to a comment, quotes taken off. */
const wordsOf = (line: string): ReadonlyArray<string> =>
  [...line.replace(/\s#\s.*$/, "").matchAll(/'[^']*'|"[^"]*"|\S+/g)].map(([word]) =>
    word.replace(/^(['"])(.*)\1$/, "$2")
  )

const npmScript = /\bnpm (?:run (?:-s |--silent )?)([a-z:-]+)/g

/** The scripts of the package that a document's shell blocks run. */
export const scriptsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, body = ""]) =>
    [...body.matchAll(npmScript)].map(([, name = ""]) => name)
  )
