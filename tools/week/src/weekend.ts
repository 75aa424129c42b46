/** Saturday and Sunday: nothing is published any more; everything is compared with what was. */
import { contentsOfStream } from "../../../test/integration/stream-contents.ts"
import { archivedUpTo, checkRead } from "./archive-check.ts"
import { kinds, messageOf } from "./stream-load.ts"
import type { Day, Week } from "./working-days.ts"

const saturday: Day = async ({ logs, orders, site }) => {
  const sent = await logs.stop()
  await archivedUpTo(site, "ORDERS", await orders.stop())
  await archivedUpTo(site, "LOGS", sent)
  const checked = await checkRead(site, "LOGS", { prefix: "logs", upTo: sent })
  if (checked.from === 0) throw new Error("retention has ended nothing of LOGS")
  return `LOGS keeps ${checked.records} of ${sent} records, none missing among them`
}

const searchKinds = async ({ orders, site }: Week): Promise<void> => {
  const all = Array.from({ length: orders.sent() }, (_, index) => messageOf("orders", index))
  for (const kind of kinds) {
    const search = ["search", "ORDERS", "--tag", `kind=${kind}`, "--count"]
    const { count } = await site.json<{ readonly count: number }>(...search)
    const expected = all.filter((message) => message.kind === kind).length
    if (count !== expected) throw new Error(`search found ${count} of ${expected} ${kind}`)
  }
}

/** A stream holds every order once, in order. */
const expectOrders = async ({ connection, orders }: Week, stream: string): Promise<void> => {
  const found = await contentsOfStream(connection, stream)
  if (found.length !== orders.sent()) {
    throw new Error(`${stream} holds ${found.length} of ${orders.sent()} messages`)
  }
  for (const [index, { data, headers, subject }] of found.entries()) {
    const wanted = messageOf("orders", index)
    const kind = headers.find(([name]) => name === "Kind")?.[1]
    if (subject !== wanted.subject || data !== wanted.data || kind !== wanted.kind) {
      throw new Error(`${stream}: message ${index} is ${subject} ${data}`)
    }
  }
}

const sunday: Day = async (week) => {
  const { manager, orders, site } = week
  await searchKinds(week)
  // The stream is lost; what others need of it at once goes into another one.
  await manager.streams.purge("ORDERS")
  await manager.streams.delete("ORDERS")
  await manager.streams.add({ name: "AGAIN", subjects: ["orders.>"] })
  for (const _time of [1, 2]) await site.run("replay", "ORDERS", "--into", "AGAIN")
  await expectOrders(week, "AGAIN")
  await manager.streams.delete("AGAIN")
  await site.run("restore", "ORDERS")
  await expectOrders(week, "ORDERS")
  const sent = orders.sent()
  const checked = await checkRead(site, "ORDERS", { prefix: "orders", upTo: sent })
  if (checked.from !== 0) throw new Error(`ORDERS begins with message ${checked.from}`)
  for (const archive of ["ORDERS", "LOGS"]) {
    await site.run("verify", archive, "--repair", "--every-copy")
  }
  return `${sent} orders searched, replayed twice, restored, read and verified: all equal`
}

/** The days on which all is compared. */
export const weekend: ReadonlyArray<readonly [string, Day]> = [
  ["Saturday", saturday],
  ["Sunday", sunday]
]
