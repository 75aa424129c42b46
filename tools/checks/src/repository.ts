/** What the checks look at: the files that git tracks, and the packages of the workspace. */
import { execFileSync } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The root of the checkout. */
export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..")

/** A tracked text file. */
export interface SourceFile {
  readonly path: string
  readonly text: string
  readonly lines: ReadonlyArray<string>
}

/** Reads a file of the checkout by its path from the root. */
export const readText = (path: string): string => readFileSync(join(root, path), "utf8")

/** Every file that git tracks or would track, by its path from the root. */
export const trackedPaths = (): ReadonlyArray<string> =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024
  })
    .split("\n")
    .filter((path) => path !== "" && existsSync(join(root, path)))

/** The tracked files whose path matches. */
export const filesMatching = (pattern: RegExp): ReadonlyArray<SourceFile> =>
  trackedPaths()
    .filter((path) => pattern.test(path))
    .map((path) => {
      const text = readText(path)
      return { path, text, lines: text.split("\n") }
    })

/** A package of the workspace. */
export interface WorkspacePackage {
  readonly folder: string
  readonly name: string
  readonly layer: string
  readonly dependencies: ReadonlyArray<string>
  readonly isPrivate: boolean
}

/** The packages below the workspace's globs. */
export const workspacePackages = (): ReadonlyArray<WorkspacePackage> => {
  const manifest = JSON.parse(readText("package.json"))
  const globs: ReadonlyArray<string> = manifest.workspaces
  return globs
    .flatMap((glob) => globSync(`${glob}/package.json`, { cwd: root }))
    .map((path) => {
      const content = JSON.parse(readText(path))
      const tags: ReadonlyArray<string> = content.nx?.tags ?? []
      return {
        folder: dirname(path),
        name: content.name,
        layer: tags.find((tag) => tag.startsWith("layer:"))?.slice("layer:".length) ?? "",
        dependencies: Object.keys(content.dependencies ?? {}),
        isPrivate: content.private === true
      }
    })
}
