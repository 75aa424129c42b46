/**
 * An operator's week in ten minutes, on real processes: `npm run week`.
 *
 *     Monday     two streams, two archives, three machines
 *     Tuesday    growth: another machine, another worker, another peer, four times the load
 *     Wednesday  a machine is lost: its disk for good, its peer and its worker come back
 *     Thursday   a disk is replaced
 *     Friday     a rolling upgrade: every process, one after another
 *     Saturday   retention has ended what is too old; the rest is whole
 *     Sunday     search, replay twice, restore after the stream was purged, verify
 *
 * Publishing never stops until Saturday. Ends with 0 when everything is equal.
 */
import { jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { openSite, type Site } from "./site.ts"
import { startLoad } from "./stream-load.ts"
import { weekend } from "./weekend.ts"
import { type Week, workingDays } from "./working-days.ts"

const begin = async (site: Site): Promise<Week> => {
  const connection = await connect({ servers: site.server.url })
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: "ORDERS", subjects: ["orders.>"] })
  await manager.streams.add({ name: "LOGS", subjects: ["logs.>"] })
  const orders = startLoad(connection, "orders")
  const logs = startLoad(connection, "logs")
  return { site, connection, manager, orders, logs }
}

const play = async (site: Site): Promise<void> => {
  const week = await begin(site)
  const days = [...workingDays, ...weekend]
  for (const [name, day] of days) {
    const begun = performance.now()
    const shown = await day(week)
    const seconds = ((performance.now() - begun) / 1_000).toFixed(0)
    console.log(`${name.padEnd(10)} ${seconds.padStart(4)} s  ${shown}`)
  }
  console.log(`\n${days.length} days, everything equal`)
  await week.connection.close()
}

const site = await openSite()
try {
  await play(site)
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  console.error(site.stories())
  process.exitCode = 1
} finally {
  await site.close()
}
