import fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { COMMITTED, FiguresEdit } from "./figures.ts"
import type { Allocation } from "./model.ts"
import { abandon } from "./publish.ts"
import { Cluster, codeOf, succeed } from "./testing/cluster.ts"

const setUp = (settings = {}, hosts: Record<string, ReadonlyArray<string>> = {}) => {
  const cluster = new Cluster(settings)
  const wanted = Object.keys(hosts).length > 0 ? hosts : { h1: ["a"], h2: ["b"], h3: ["c"] }
  for (const [host, disks] of Object.entries(wanted)) cluster.addServer(host, ...disks)
  return cluster.start()
}

const committed = (cluster: Cluster) => {
  const figures = new FiguresEdit(cluster.state.figures)
  return cluster.state.deviceNames.map((_name, index) => figures.get(index, COMMITTED))
}

describe("allocation", () => {
  it("metadata-W14: below min it is refused, between min and want it is allotted", () => {
    const cluster = setUp()
    const fileId = cluster.file()
    expect(codeOf(cluster.alloc(fileId, { want: 5, min: 4 }))).toBe("not-enough-devices")
    expect(succeed(cluster.alloc(fileId, { want: 5, min: 3 })).devices).toHaveLength(3)
  })

  it("metadata-W16: hosts are distinct while they last, then devices; never refused", () => {
    const cluster = setUp({}, { h1: ["a", "b", "c"], h2: ["d"] })
    const fileId = cluster.file()
    for (let index = 0; index < 50; index++) {
      expect(succeed(cluster.alloc(fileId, { want: 2 })).devices).toContain("d")
      const three = succeed(cluster.alloc(fileId, { want: 3, size: 1 })).devices
      expect(new Set(three).size).toBe(3)
    }
  })

  it("metadata-W15, metadata-B86: room that is reserved is gone, and the refusal is typed", () => {
    const cluster = setUp()
    for (const name of ["a", "b", "c"]) cluster.disk(name).capacity = 100
    cluster.rounds(1)
    const fileId = cluster.file()
    const granted = Array.from({ length: 10 }, () => cluster.alloc(fileId, { want: 1, size: 60 }))
    expect(granted.filter((one) => Result.isSuccess(one))).toHaveLength(3)
    expect(granted.slice(3).map(codeOf)).toEqual(Array.from({ length: 7 }, () => "no-space"))
    expect(committed(cluster)).toEqual([60, 60, 60])
  })

  it("metadata-B57: sizes exactly at the limit, and of nothing", () => {
    const cluster = setUp({ freeBytesMin: 40 })
    cluster.disk("a").capacity = 100
    cluster.rounds(1)
    const fileId = cluster.file()
    const only = { want: 1, exclude: ["b", "c"] }
    expect(codeOf(cluster.alloc(fileId, { ...only, size: 61 }))).toBe("no-space")
    const exact = succeed(cluster.alloc(fileId, { ...only, size: 60 }))
    expect(codeOf(cluster.alloc(fileId, { ...only, size: 1 }))).toBe("no-space")
    expect(codeOf(cluster.alloc(fileId, { ...only, size: 0 }))).toBe("no refusal")
    cluster.run((draft) => abandon(draft, { leaseId: exact.leaseId }))
    expect(committed(cluster)[0]).toBe(0)
  })

  it("metadata-W19, metadata-B51: a nearly full device is not chosen", () => {
    const cluster = setUp({ freeRatioMin: 0.01 })
    cluster.disk("a").capacity = 10_000
    cluster.store("a", { fileId: 99, chunkId: 0, version: 1, length: 9_850, checksum: 0 })
    cluster.rounds(1)
    const fileId = cluster.file()
    for (let index = 0; index < 30; index++) {
      expect(succeed(cluster.alloc(fileId, { want: 2, size: 100 })).devices).not.toContain("a")
    }
  })

  it("metadata-B56: of two disks of a host the one with room is taken", () => {
    const cluster = setUp({}, { h1: ["a", "b"] })
    cluster.disk("a").capacity = 50
    cluster.rounds(1)
    const fileId = cluster.file()
    for (let index = 0; index < 20; index++) {
      expect(succeed(cluster.alloc(fileId, { want: 1, size: 60 })).devices).toEqual(["b"])
    }
    expect(succeed(cluster.alloc(fileId, { want: 2, size: 60 })).devices).toEqual(["b"])
  })

  it("metadata-B80: who may take chunks is asked each time: a device that is back is used", () => {
    const cluster = setUp()
    const fileId = cluster.file()
    cluster.server("h3").alive = false
    cluster.rounds(20)
    expect(succeed(cluster.alloc(fileId, { want: 3 })).devices).toHaveLength(2)
    cluster.server("h3").alive = true
    cluster.beat("h3")
    expect(succeed(cluster.alloc(fileId, { want: 3 })).devices).toHaveLength(3)
  })

  it("metadata-W17: fuller devices are chosen less often", () => {
    const cluster = setUp()
    cluster.disk("a").capacity = 10_000_000
    cluster.rounds(1)
    const fileId = cluster.file()
    const picks = Array.from(
      { length: 300 },
      () => succeed(cluster.alloc(fileId, { want: 1, size: 1_000 })).devices[0]
    )
    const share = picks.filter((name) => name === "a").length
    cluster.disk("a").capacity = 10_000
    expect(share).toBeGreaterThan(100)
  })

  it("metadata-W18: what is out of range is refused before anything changes", () => {
    const cluster = setUp()
    const fileId = cluster.file()
    const before = cluster.state.leases
    for (const bad of [{ want: 0 }, { want: 16 }, { min: 3 }, { size: -1 }, { size: 0.5 }]) {
      expect(codeOf(cluster.alloc(fileId, bad))).toBe("invalid-request")
    }
    expect(codeOf(cluster.alloc(fileId + 1))).toBe("unknown-file")
    expect(codeOf(cluster.alloc(fileId, { chunkId: 5 }))).toBe("no-such-chunk")
    expect(cluster.state.leases).toBe(before)
  })

  it("answers a repeated request with the same reservation", () => {
    const cluster = setUp()
    const fileId = cluster.file()
    const first = succeed(cluster.alloc(fileId, { requestId: "r" }))
    expect(succeed(cluster.alloc(fileId, { requestId: "r" }))).toEqual(first)
    expect(cluster.state.leases.size).toBe(1)
  })

  it("forgets the oldest answers first, and holds only so many", () => {
    const cluster = setUp({ requestsMax: 3 })
    const fileId = cluster.file()
    for (const requestId of ["1", "2", "3", "4"]) cluster.alloc(fileId, { requestId })
    expect(cluster.state.requests.size).toBe(3)
    cluster.alloc(fileId, { requestId: "4" })
    expect(cluster.state.leases.size).toBe(4)
  })
})

type Step =
  | { readonly kind: "alloc"; readonly size: number; readonly want: number }
  | { readonly kind: "publish" | "abandon"; readonly which: number }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "restart" }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("alloc" as const),
    size: fc.integer({ min: 0, max: 200_000 }),
    want: fc.integer({ min: 1, max: 3 })
  }),
  fc.record({
    kind: fc.constantFrom("publish" as const, "abandon" as const),
    which: fc.nat(20)
  }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 4_000 }) }),
  fc.constant({ kind: "restart" as const })
)

describe("metadata-T5, metadata-B87: reservation arithmetic", () => {
  it("metadata-I8: committed bytes fit, equal the open leases, and return to nothing", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const cluster = setUp({ leaseMs: 8_000, deadAfterMs: 10 ** 9, staleAfterMs: 10 ** 9 })
        const fileId = cluster.file()
        const open: Array<Allocation> = []
        for (const one of steps) {
          if (one.kind === "alloc") {
            const granted = cluster.alloc(fileId, one)
            if (Result.isSuccess(granted)) open.push(granted.success)
          } else if (one.kind === "pass") cluster.pass(one.ms)
          else if (one.kind === "restart") {
            cluster.restartService()
            cluster.start()
          } else {
            const allocation = open[one.which]
            if (allocation === undefined) continue
            if (one.kind === "publish") cluster.publish(allocation, allocation.devices)
            else cluster.run((draft) => abandon(draft, { leaseId: allocation.leaseId }))
          }
          for (const bytes of committed(cluster)) {
            expect(bytes).toBeGreaterThanOrEqual(0)
            expect(bytes).toBeLessThanOrEqual(1_000_000)
          }
        }
        cluster.pass(8_000)
        expect(committed(cluster)).toEqual([0, 0, 0])
      }),
      { numRuns: 60 }
    )
  })
})
