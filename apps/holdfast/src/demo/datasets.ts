/** The data that the demonstration archives: real sets that the package `vega-datasets` ships. */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { TextFormat } from "@holdfast/adapter-file"
import { type CommandFailure, failure } from "@holdfast/process"
import { Effect } from "effect"

/** A data set, the archive it goes into and the tags it is searched by. */
export interface Dataset {
  readonly archive: string
  readonly file: string
  readonly format: TextFormat
  readonly tags: ReadonlyArray<string>
  readonly records: number
}

const array: TextFormat = { _tag: "JsonArray", path: [] }

/** The sets, the largest first. */
export const datasets: ReadonlyArray<Dataset> = [
  { archive: "flights", file: "flights-200k.json", format: array, tags: [], records: 200_000 },
  {
    archive: "routes",
    file: "flights-20k.json",
    format: array,
    tags: ["origin=json:origin", "destination=json:destination"],
    records: 20_000
  },
  {
    archive: "earthquakes",
    file: "earthquakes.json",
    format: { _tag: "JsonArray", path: ["features"] },
    tags: ["magnitude=json:properties.mag,number:1", "network=json:properties.net"],
    records: 1_707
  }
]

/** What is searched for at the end. */
export const searches = [
  { archive: "routes", tag: { name: "origin", value: "SEA" } },
  { archive: "earthquakes", tag: { name: "magnitude", value: "4" } }
] as const

/** The directory of the data, where the package is installed. */
export const datasetDirectory: Effect.Effect<string, CommandFailure> = Effect.suspend(() => {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", "vega-datasets", "data")
    if (existsSync(candidate)) return Effect.succeed(candidate)
    if (dirname(folder) === folder) {
      return Effect.fail(
        failure("the demonstration needs the package vega-datasets; run npm ci in the checkout")
      )
    }
  }
})
