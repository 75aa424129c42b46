/** The registration table: process x address x liveness of what is known, 18 cases. */
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { Cluster } from "./testing/cluster.ts"

type Process = "same" | "newer" | "older"
type Address = "same" | "other"
type Known = "alive" | "stale" | "dead"

/** What a heartbeat of host h1 is answered, and where the map says that it is reached then. */
const claim = (process: Process, address: Address, known: Known): string => {
  const cluster = new Cluster({ staleAfterMs: 5_000, deadAfterMs: 20_000 })
  const server = cluster.addServer("h1", "a")
  cluster.addServer("h2", "b")
  cluster.restartServer("h1")
  cluster.start()
  const chunk = cluster.write(["a", "b"])
  server.alive = false
  cluster.rounds(known === "alive" ? 0 : known === "stale" ? 7 : 25)
  if (process === "newer") cluster.restartServer("h1")
  if (process === "older") {
    server.incarnation--
    server.disks[0]!.epoch--
  }
  if (address === "other") server.url = "http://moved"
  const outcome = cluster.sign("h1")
  if (Result.isFailure(outcome)) return outcome.failure.code
  const { reportsWanted, refused } = outcome.success
  const device = cluster.run((draft) => draft.devices.get("a"))
  const url = cluster.run((draft) => draft.hosts.get("h1")?.url)
  const said = refused.length > 0 ? "refused" : reportsWanted.length > 0 ? "report" : "served"
  expect(chunk.chunkId).toBe(0)
  return `${said}, ${device?.liveness}, ${url}`
}

const here = "http://h1"
const moved = "http://moved"

describe("metadata-T4, metadata-B78: registration", () => {
  it.each<[Process, Address, Known, string]>([
    ["same", "same", "alive", `served, online, ${here}`],
    ["same", "same", "stale", `served, online, ${here}`],
    ["same", "same", "dead", `report, online, ${here}`],
    ["same", "other", "alive", `served, online, ${moved}`],
    ["same", "other", "stale", `served, online, ${moved}`],
    ["same", "other", "dead", `report, online, ${moved}`],
    ["newer", "same", "alive", `report, online, ${here}`],
    ["newer", "same", "stale", `report, online, ${here}`],
    ["newer", "same", "dead", `report, online, ${here}`],
    ["newer", "other", "alive", `report, online, ${moved}`],
    ["newer", "other", "stale", `report, online, ${moved}`],
    ["newer", "other", "dead", `report, online, ${moved}`],
    ["older", "same", "alive", "stale-incarnation"],
    ["older", "same", "stale", "stale-incarnation"],
    ["older", "same", "dead", "stale-incarnation"],
    ["older", "other", "alive", "stale-incarnation"],
    ["older", "other", "stale", "stale-incarnation"],
    ["older", "other", "dead", "stale-incarnation"]
  ])("%s process, %s address, known as %s: %s", (process, address, known, expected) => {
    expect(claim(process, address, known)).toBe(expected)
  })
})
