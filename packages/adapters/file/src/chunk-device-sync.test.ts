import { assert, describe, it } from "@effect/vitest"
import { type Disk, nodeDisk } from "./chunk-device-disk.ts"
import { folderSync } from "./chunk-device-sync.ts"

/** A disk whose syncs end when the test says so. */
const heldDisk = () => {
  const pending: Array<{ readonly end: () => void; readonly fail: (cause: Error) => void }> = []
  const disk: Disk = {
    ...nodeDisk,
    syncDirectory: () =>
      new Promise((end, fail) => {
        pending.push({ end, fail })
      })
  }
  return { disk, pending }
}

const settled = () => new Promise((resume) => setImmediate(resume))

describe("syncs of a folder", () => {
  it("those who come while one runs share the next, which begins after they came", async () => {
    const { disk, pending } = heldDisk()
    const folders = folderSync(disk)
    const done: Array<string> = []
    const want = (name: string) => folders.sync("f").then(() => done.push(name))
    const all = [want("a"), want("b"), want("c")]
    await settled()
    assert.strictEqual(pending.length, 1)
    pending[0]?.end()
    await settled()
    assert.deepStrictEqual(done, ["a"])
    assert.strictEqual(pending.length, 2)
    all.push(want("d"))
    pending[1]?.end()
    await settled()
    assert.deepStrictEqual(done, ["a", "b", "c"])
    assert.strictEqual(pending.length, 3)
    pending[2]?.end()
    await Promise.all(all)
    assert.deepStrictEqual(done, ["a", "b", "c", "d"])
  })

  it("a sync that fails fails those it was for, and the next is tried anew", async () => {
    const { disk, pending } = heldDisk()
    const folders = folderSync(disk)
    const first = folders.sync("f").catch(() => "failed")
    const second = folders.sync("f").then(() => "good")
    pending[0]?.fail(new Error("EIO"))
    assert.strictEqual(await first, "failed")
    await settled()
    pending[1]?.end()
    assert.strictEqual(await second, "good")
  })

  it("folders do not wait for each other", async () => {
    const { disk, pending } = heldDisk()
    const folders = folderSync(disk)
    const both = [folders.sync("f"), folders.sync("g")]
    assert.strictEqual(pending.length, 2)
    for (const each of pending) each.end()
    await Promise.all(both)
  })
})
