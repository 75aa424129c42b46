/** The chunk map as a planner: the numbers that it prints add up. */
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const example = fileURLToPath(new URL("chunk-map-alone.ts", import.meta.url))

it("places two copies of each of a thousand chunks, and says what one disk's end costs", () => {
  const disks = ["disk-a", "disk-b", "disk-c", "disk-d"]
  const lines = execFileSync(process.execPath, [example, ...disks], { encoding: "utf8" })
  const held = disks.map((disk) => Number(new RegExp(`${disk} holds (\\d+)`).exec(lines)?.[1]))
  expect(held.reduce((sum, copies) => sum + copies, 0)).toBe(2_000)
  for (const copies of held) expect(copies).toBeGreaterThan(300)
  expect(lines).toContain(`without disk-a ${held[0]} chunks are short of a copy`)
})
