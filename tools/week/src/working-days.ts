/** Monday to Friday: what happens to machines while two streams are published without a pause. */
import type { JetStreamManager } from "@nats-io/jetstream"
import type { NatsConnection } from "@nats-io/transport-node"
import { eventually } from "../../../test/integration/process.ts"
import { archivedUpTo } from "./archive-check.ts"
import { addHost, addPeer, addWorker, startCluster } from "./machines.ts"
import { atGoal, type Site } from "./site.ts"
import type { Load } from "./stream-load.ts"

/** What the days have in common. */
export interface Week {
  readonly site: Site
  readonly connection: NatsConnection
  readonly manager: JetStreamManager
  readonly orders: Load
  readonly logs: Load
}

/** A day: it answers what was shown, and throws where something is not as it must be. */
export type Day = (week: Week) => Promise<string>

const segments = ["--segment-age-ms", "2000", "--segment-bytes", "262144"]

const caughtUp = async ({ logs, orders, site }: Week): Promise<void> => {
  await archivedUpTo(site, "ORDERS", orders.sent())
  await archivedUpTo(site, "LOGS", logs.sent())
}

const monday: Day = async (week) => {
  const { site } = week
  await startCluster(site)
  const tags = ["--tag", "kind=header:Kind", "--tag", "region=subject:1"]
  const amount = ["--tag", "amount=json:amount,number"]
  await site.run("archive", "add", "ORDERS", ...tags, ...amount, ...segments)
  await site.run("archive", "add", "LOGS", ...tags, "--keep", "1m", ...segments)
  await caughtUp(week)
  return "two streams are archived on three machines while they are published"
}

const tuesday: Day = async (week) => {
  const { logs, orders, site } = week
  orders.pace(800)
  logs.pace(800)
  await addHost(site, "h4", "d4")
  await addWorker(site, "w3")
  await addPeer(site, "p4", ["--join"])
  await caughtUp(week)
  await atGoal(site, 4)
  return "four times the load; a machine, a worker and a peer came without a pause"
}

const wednesday: Day = async (week) => {
  const { site } = week
  for (const name of ["h1", "p1", "w1"]) await site.stop(name, "SIGKILL")
  await caughtUp(week)
  await site.start("p1")
  await site.start("w1")
  const status = await atGoal(site, 4)
  await site.run("devices", "offline", "d1")
  await site.run("devices", "remove", "d1")
  const chunks = status.metadata?.chunks.known ?? 0
  return `a machine is gone for good; ${chunks} chunks have all copies again`
}

const thursday: Day = async (week) => {
  const { site } = week
  await addHost(site, "h5", "d5")
  await site.run("devices", "drain", "d2")
  await eventually(
    "nothing keeps d2",
    async () => {
      const { blockers } = await site.json<{ readonly blockers: ReadonlyArray<unknown> }>(
        "devices",
        "blocked",
        "d2"
      )
      return blockers.length === 0 ? true : undefined
    },
    180_000
  )
  await site.stop("h2", "SIGTERM")
  // It is refused until the device is known to be served no more.
  await eventually("d2 is forgotten", () => site.attempt("devices", "remove", "d2"), 60_000)
  await caughtUp(week)
  return "d2 was drained, taken out and forgotten; d5 stands in its place"
}

const friday: Day = async (week) => {
  const { site } = week
  const gone = new Set(["h1", "h2"])
  const names = site.names().filter((name) => !gone.has(name))
  for (const name of names) {
    await site.stop(name, "SIGTERM")
    await site.start(name)
    await atGoal(site, 4)
  }
  await caughtUp(week)
  return `${names.length} processes were stopped and started again, one after another`
}

/** The days on which streams grow. */
export const workingDays: ReadonlyArray<readonly [string, Day]> = [
  ["Monday", monday],
  ["Tuesday", tuesday],
  ["Wednesday", wednesday],
  ["Thursday", thursday],
  ["Friday", friday]
]
