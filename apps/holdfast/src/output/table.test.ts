import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { formatAge, formatBytes, renderPairs, renderTable } from "./table.ts"

describe("tables", () => {
  it("numbers stand to the right, text to the left", () => {
    const table = renderTable(
      ["device", "copies"],
      [
        ["d1", 7],
        ["device-2", 12_345]
      ]
    )
    assert.deepStrictEqual(table.split("\n"), [
      "device    copies",
      "d1             7",
      "device-2  12,345"
    ])
  })

  it("no line is wider than 100 columns, whatever is in it", () => {
    const rows = fc.array(fc.tuple(fc.string({ maxLength: 200 }), fc.nat(), fc.string()))
    fc.assert(
      fc.property(rows, (cells) => {
        const clean = cells.map((row) =>
          row.map((cell) => (typeof cell === "string" ? cell.replaceAll(/\s/g, "_") : cell))
        )
        for (const line of renderTable(["first", "second", "third"], clean).split("\n")) {
          assert.isAtMost(line.length, 100)
        }
      })
    )
  })

  it("pairs line up", () => {
    assert.strictEqual(
      renderPairs([
        ["a", 1],
        ["long", "x"]
      ]),
      "a     1\nlong  x"
    )
  })

  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1536, "1.5 KiB"],
    [8 * 1024 ** 2, "8.0 MiB"],
    [2 ** 60, "1024.0 PiB"]
  ])("%d bytes read %s", (bytes, text) => {
    assert.strictEqual(formatBytes(bytes), text)
  })

  it.each([
    [0, "0.0 s"],
    [119_900, "119.9 s"],
    [120_000, "2.0 min"],
    [7_200_000, "2.0 h"],
    [172_800_000, "2.0 days"]
  ])("%d milliseconds read %s", (millis, text) => {
    assert.strictEqual(formatAge(millis), text)
  })
})
