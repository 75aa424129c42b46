/** What must hold of every package: its layer, its declared imports, its README, its build. */
import { existsSync } from "node:fs"
import { join, relative } from "node:path"
import { describe, expect, it } from "vitest"
import { filesMatching, readText, root, workspacePackages } from "./repository.ts"

const packages = workspacePackages()
const layerOfFolder = (folder: string): string => {
  if (folder === "packages/ports/suites") return "suite"
  if (["packages/client", "packages/process", "packages/simulation"].includes(folder)) {
    return folder.slice("packages/".length)
  }
  const [top = "", second = ""] = folder.split("/")
  if (top === "apps") return "app"
  if (top === "tools") return "tool"
  return second.replace(/s$/, "")
}
const built = packages.filter((one) => one.layer !== "tool")
const nodeModule = /^node:/

describe("packages", () => {
  it("carry the layer of the folder they stand in", () => {
    const wrong = packages.filter((one) => one.layer !== layerOfFolder(one.folder))
    expect(wrong.map((one) => `${one.folder} says ${one.layer}`)).toEqual([])
  })

  it("declare what their sources import, and nothing else", () => {
    const problems = built.flatMap((one) => {
      const imported = new Set(
        filesMatching(new RegExp(`^${one.folder}/(src|bin)/.*\\.[jt]s$`))
          .filter(({ path }) => !/\.(test|bench)\.ts$|\/testing\//.test(path))
          .flatMap((file) => [
            ...file.text.matchAll(/^(?:import|} from|.* from) "([^"./][^"]*)"$/gm),
            ...file.text.matchAll(/\bimport\("([^"./][^"]*)"\)/g)
          ])
          .map((match) => match[1] ?? "")
          .filter((name) => name !== "" && !nodeModule.test(name))
          .map((name) =>
            name
              .split("/")
              .slice(0, name.startsWith("@") ? 2 : 1)
              .join("/")
          )
      )
      const missing = [...imported].filter((name) => !one.dependencies.includes(name))
      const unused = one.dependencies.filter((name) => !imported.has(name))
      return [
        ...missing.map((name) => `${one.folder} imports ${name} without declaring it`),
        ...unused.map((name) => `${one.folder} declares ${name} without importing it`)
      ]
    })
    expect(problems).toEqual([])
  })

  it("build after what they depend on", () => {
    const folderOf = new Map(packages.map((one) => [one.name, one.folder]))
    const problems = built.flatMap((one) => {
      const config = JSON.parse(readText(`${one.folder}/tsconfig.json`))
      const referenced: ReadonlyArray<string> = (config.references ?? []).map(
        (reference: { readonly path: string }) =>
          relative(root, join(root, one.folder, reference.path))
      )
      const wanted = one.dependencies.flatMap((name) => folderOf.get(name) ?? [])
      return wanted
        .filter((folder) => !referenced.includes(folder))
        .map((folder) => `${one.folder}/tsconfig.json does not reference ${folder}`)
    })
    expect(problems).toEqual([])
  })

  it("are all built from the root", () => {
    const config = JSON.parse(readText("tsconfig.json"))
    const referenced: ReadonlyArray<string> = config.references.map(
      (reference: { readonly path: string }) => reference.path
    )
    expect([...referenced].sort()).toEqual(built.map((one) => one.folder).sort())
  })

  it("have a README of at most a page", () => {
    const problems = built
      .filter((one) => one.layer !== "app" || one.name === "holdfast")
      .flatMap((one) => {
        const path = `${one.folder}/README.md`
        if (!existsSync(join(root, path))) return [`${path} is missing`]
        const lines = readText(path).split("\n").length
        return lines > 120 ? [`${path} has ${lines} lines`] : []
      })
    expect(problems).toEqual([])
  })

  it("are locked without the host they came from", () => {
    expect(/"resolved": "http/.test(readText("package-lock.json"))).toBe(false)
  })
})
