/** The house rules for source files, as tests: what a reviewer would otherwise say by hand. */
import { describe, expect, it } from "vitest"
import { filesMatching, type SourceFile } from "./repository.ts"

const sources = filesMatching(/^(packages|apps|tools|test|examples)\/.*\.(ts|js)$/)
const product = sources.filter(
  (file) => !/\.test\.ts$|\/testing\/|^tools\/|^test\//.test(file.path)
)
const texts = filesMatching(/\.(ts|js|md|json|yaml|yml)$|^\.ci\/run$/).filter(
  (file) => file.path !== "package-lock.json"
)

/** Each line of the files that a rule objects to, as `path:line text`. */
const breaches = (
  files: ReadonlyArray<SourceFile>,
  objects: (line: string, file: SourceFile) => boolean
): ReadonlyArray<string> =>
  files.flatMap((file) =>
    file.lines.flatMap((line, index) =>
      objects(line, file) ? [`${file.path}:${index + 1} ${line.trim().slice(0, 80)}`] : []
    )
  )

const isComment = (line: string): boolean => /^\s*(\*|\/\/|\/\*)/.test(line)

const thisFile = (file: SourceFile): boolean => file.path.endsWith("tidy.test.ts")

describe("house rules", () => {
  it("a file is one idea: 400 lines at most", () => {
    const long = sources.filter((file) => file.lines.length > 401)
    expect(long.map((file) => `${file.path} ${file.lines.length}`)).toEqual([])
  })

  it("a line has 100 columns at most, unless it holds one long literal or a table's row", () => {
    const isLong = (line: string): boolean =>
      line.length > 100 && !/https?:|"[^"]{60,}|`|^ \* \|/.test(line)
    expect(breaches(sources, isLong)).toEqual([])
  })

  it("a file's name says its idea", () => {
    const vague = /(^|\/)(utils?|helpers?|common|manager|misc|shared|stuff)(\.|\/|-)/
    expect(sources.map((file) => file.path).filter((path) => vague.test(path))).toEqual([])
    const shape = /^[a-z0-9]+(-[a-z0-9]+)*(\.property)?(\.(test|bench|config))?\.(ts|js)$/
    const named = sources.filter((file) => !shape.test(file.path.split("/").at(-1) ?? ""))
    expect(named.map((file) => file.path)).toEqual([])
  })

  it("nothing is left for later", () => {
    const later = /\b(TODO|FIXME|XXX|HACK)\b|not implemented|\bplaceholder\b/i
    expect(breaches(sources, (line, file) => !thisFile(file) && later.test(line))).toEqual([])
  })

  it("no test is skipped or runs alone", () => {
    const exclusive = /\b(it|test|describe)\.(skip|todo|only)\b/
    expect(breaches(sources, (line, file) => !thisFile(file) && exclusive.test(line))).toEqual([])
  })

  it("no error is swallowed and no type is forced", () => {
    const swallowed = /catch *(\([^)]*\))? *\{ *\}|\.catch\(\(\) *=> *(\{ *\}|undefined|void 0)\)/
    const forced =
      /\bas any\b|as unknown as|@ts-ignore|@ts-expect-error|@ts-nocheck|: any(?=[,;)\]>=]|$)/
    const objects = (line: string, file: SourceFile): boolean =>
      !thisFile(file) && !isComment(line) && (swallowed.test(line) || forced.test(line))
    expect(breaches(sources, objects)).toEqual([])
  })

  it("no file mentions the place it was made at", () => {
    const place = /\/w[o]rk\/|\.\.\/sh[a]red|registry\.npmjs|deb\.debian|\/home\/\w|\/root\//
    expect(breaches(texts, (line) => place.test(line))).toEqual([])
  })

  it("an exported name has a doc comment", () => {
    const exported =
      /^export (?:declare )?(?:abstract )?(?:const|function|class|interface|type) (\w+)/
    const undocumented = product
      .filter((file) => file.path.startsWith("packages/"))
      .flatMap((file) =>
        file.lines.flatMap((line, index) => {
          const name = exported.exec(line)?.[1]
          const before = file.lines[index - 1]?.trim() ?? ""
          return name === undefined || before.endsWith("*/")
            ? []
            : [`${file.path}:${index + 1} ${name}`]
        })
      )
    expect(undocumented).toEqual([])
  })

  it("a module begins with what it is", () => {
    const silent = product.filter(
      (file) =>
        !file.path.endsWith("/index.ts") && !/^(#!.*\n|\/\/ @ts-check\n)?\/\*\*/.test(file.text)
    )
    expect(silent.map((file) => file.path)).toEqual([])
  })
})
