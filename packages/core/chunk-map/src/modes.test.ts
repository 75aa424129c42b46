/** What an operator wants of a device while writes to it are under way. */
import { describe, expect, it } from "vitest"
import { locate } from "./locate.ts"
import { setMode } from "./modes.ts"
import { listDevices } from "./status.ts"
import { Cluster, codeOf, succeed } from "./testing/cluster.ts"

describe("modes", () => {
  it("metadata-B53: a freeze waits for the writes that were let in, which end as they may", () => {
    const cluster = new Cluster()
    for (const name of ["a", "b", "c"]) cluster.addServer(`h${name}`, name)
    cluster.start()
    const openWrites = () =>
      cluster
        .run((draft) => listDevices(draft, { after: null, limit: 10 }))
        .devices.find(({ device }) => device.deviceId === "a")?.openWrites
    const fileId = cluster.file()
    const ended = succeed(cluster.alloc(fileId, { want: 3 }))
    const lapsing = succeed(cluster.alloc(fileId, { want: 3 }))
    expect(openWrites()).toBeNull()
    succeed(cluster.run((draft) => setMode(draft, { deviceId: "a", desired: "frozen" })))
    expect(openWrites()).toBe(2)
    succeed(cluster.publish(ended, ["a", "b"]))
    expect(openWrites()).toBe(1)
    const where = cluster.run((draft) => locate(draft, ended))
    expect(where).toMatchObject({ _tag: "Found", holders: expect.arrayContaining(["a", "b"]) })
    cluster.pass(cluster.settings.leaseMs)
    expect(openWrites()).toBe(0)
    expect(codeOf(cluster.publish(lapsing, ["a", "b"]))).toBe("lease-expired")
  })
})
