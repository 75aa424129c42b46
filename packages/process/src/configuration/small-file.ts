/** Reads a file that a person wrote: a regular file, of bounded size, at once. */
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs"
import { Predicate, Result } from "effect"

/** No configuration, password or context is larger than this, in bytes. */
const bytesMax = 1024 * 1024

/** What a file holds and who may read it. */
export interface SmallFile {
  readonly text: string
  /** The permission bits. */
  readonly mode: number
}

/** The file's text, or why there is none; the failure begins with the path. */
export const readSmallFile = (path: string): Result.Result<SmallFile, string> => {
  try {
    const file = openSync(path, "r")
    try {
      const status = fstatSync(file)
      if (!status.isFile()) return Result.fail(`${path} is no file`)
      if (status.size > bytesMax) return Result.fail(`${path} is larger than ${bytesMax} bytes`)
      return Result.succeed({ text: readFileSync(file, "utf8"), mode: status.mode & 0o777 })
    } finally {
      closeSync(file)
    }
  } catch (error) {
    return Result.fail(`${path} ${reasonOf(error)}`)
  }
}

const reasonOf = (error: unknown): string => {
  const code = Predicate.hasProperty(error, "code") ? error.code : undefined
  if (code === "ENOENT") return "does not exist"
  if (code === "EACCES") return "may not be read by this user"
  return `cannot be read: ${String(code ?? error)}`
}
