/** A configuration file: one JSON object whose keys are the names of flags. */
import { Predicate, Result, Schema } from "effect"
import { nearestName } from "./nearest-name.ts"
import { nameInText, type SettingTable } from "./setting.ts"
import { readSmallFile, type SmallFile } from "./small-file.ts"

const othersMayRead = 0o077

/** The values of a file by the names of the table, or what is wrong with the file. */
export const readConfigurationFile = (
  path: string,
  table: SettingTable
): Result.Result<Readonly<Record<string, unknown>>, ReadonlyArray<string>> => {
  const file = readSmallFile(path)
  if (Result.isFailure(file)) return Result.fail([`the configuration file ${file.failure}`])
  const parsed = parseObject(file.success)
  if (Result.isFailure(parsed)) {
    return Result.fail([`the configuration file ${path} ${parsed.failure}`])
  }
  const names = new Map(Object.keys(table).map((name) => [nameInText(name), name]))
  const values: Record<string, unknown> = {}
  const problems: Array<string> = []
  for (const [key, value] of Object.entries(parsed.success)) {
    const name = names.get(key)
    if (name === undefined) {
      problems.push(`${path}: ${unknownKey(key, [...names.keys()])}`)
    } else {
      if (table[name]?.isSecret === true && (file.success.mode & othersMayRead) !== 0) {
        problems.push(`${path} holds "${key}" and may be read by others; run: chmod 600 ${path}`)
      }
      values[name] = value
    }
  }
  return problems.length > 0 ? Result.fail(problems) : Result.succeed(values)
}

const parseJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

/** The JSON object of a file; a failure says what it is instead, without quoting it. */
export const parseObject = (
  file: SmallFile
): Result.Result<Readonly<Record<string, unknown>>, string> => {
  const parsed = parseJson(file.text)
  if (Result.isFailure(parsed)) return Result.fail("is no JSON")
  const value: unknown = parsed.success
  return Predicate.isReadonlyObject(value) && !Array.isArray(value)
    ? Result.succeed(Object.fromEntries(Object.entries(value)))
    : Result.fail("must hold one JSON object")
}

const unknownKey = (key: string, known: ReadonlyArray<string>): string => {
  const nearest = nearestName(key, known)
  return nearest === undefined
    ? `there is no setting "${key}"; there are ${known.join(", ")}`
    : `there is no setting "${key}"; did you mean "${nearest}"?`
}
