/** The effective configuration as `--check` prints it: each value, and where it came from. */
import type { Resolved } from "./resolve.ts"
import type { SettingTable } from "./setting.ts"

/** One line a setting, in the order of the table; secrets are hidden. */
export const showConfiguration = ({ origins }: Resolved<SettingTable>): string => {
  const rows = origins.map(({ isSecret, name, origin, value }) =>
    value === undefined
      ? { name, value: "-", origin: "not set" }
      : { name, value: isSecret ? "(hidden)" : inText(value), origin }
  )
  const nameWidth = Math.max(...rows.map(({ name }) => name.length))
  const valueWidth = Math.min(48, Math.max(...rows.map(({ value }) => value.length)))
  return rows
    .map(
      ({ name, origin, value }) =>
        `${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${origin}`
    )
    .join("\n")
}

const inText = (value: unknown): string =>
  Array.isArray(value) ? value.map(String).join(",") : withoutUserInfo(String(value))

/** URLs without the user and password that they may carry. */
export const withoutUserInfo = (text: string): string =>
  text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/@\s,]*@/gi, "$1(hidden)@")
