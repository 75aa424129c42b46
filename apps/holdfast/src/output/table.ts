/** Plain tables of at most 100 columns: numbers to the right, long cells cut with an ellipsis. */
const columnsMax = 100
const gap = "  "

/** A cell; numbers and bigints are set to the right. */
export type Cell = string | number | bigint

/** Renders rows under their headings; every row has as many cells as there are headings. */
export const renderTable = (
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>
): string => {
  const texts = rows.map((row) => row.map((cell) => formatCell(cell)))
  const widths = headings.map((heading, column) =>
    texts.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), heading.length)
  )
  shrinkWidest(widths)
  const isRight = headings.map((_, column) =>
    rows.some((row) => typeof row[column] === "number" || typeof row[column] === "bigint")
  )
  const line = (cells: ReadonlyArray<string>): string =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0
        const cut = cell.length > width ? `${cell.slice(0, Math.max(width - 1, 0))}…` : cell
        return isRight[column] === true ? cut.padStart(width) : cut.padEnd(width)
      })
      .join(gap)
      .trimEnd()
  return [line(headings), ...texts.map(line)].join("\n")
}

/** Renders names and values as two columns. */
export const renderPairs = (pairs: ReadonlyArray<readonly [name: string, value: Cell]>): string => {
  const width = pairs.reduce((widest, [name]) => Math.max(widest, name.length), 0)
  return pairs.map(([name, value]) => `${name.padEnd(width)}${gap}${formatCell(value)}`).join("\n")
}

/** A byte count for people, in powers of 1,024. */
export const formatBytes = (bytes: number): string => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit] ?? "B"}`
}

/** A length of time for people, given in milliseconds. */
export const formatAge = (millis: number): string => {
  const seconds = millis / 1_000
  if (seconds < 120) return `${seconds.toFixed(1)} s`
  if (seconds < 7_200) return `${(seconds / 60).toFixed(1)} min`
  return seconds < 172_800
    ? `${(seconds / 3_600).toFixed(1)} h`
    : `${(seconds / 86_400).toFixed(1)} days`
}

const formatCell = (cell: Cell): string =>
  typeof cell === "string" ? cell : cell.toLocaleString("en-US", { maximumFractionDigits: 1 })

/** Takes columns from the widest until the table fits. */
const shrinkWidest = (widths: Array<number>): void => {
  const total = (): number =>
    widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1))
  while (total() > columnsMax) {
    const widest = widths.indexOf(Math.max(...widths))
    widths[widest] = (widths[widest] ?? 1) - 1
  }
}
