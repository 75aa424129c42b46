import { MemoryDisk, memoryJournal, MemoryNetwork } from "@holdfast/adapter-memory"
import { Messaging } from "@holdfast/messaging"
import { Journal } from "@holdfast/storage"
import { Effect, Stream } from "effect"

const text = (value: string) => new TextEncoder().encode(value)

/** A service that journals what it is told before it answers. */
const recorder = Effect.gen(function* () {
  const messaging = yield* Messaging
  const journal = yield* Journal
  yield* messaging.serve({ subject: "note", concurrency: 4, backlog: 16 }, ({ data }) =>
    Effect.as(Effect.orDie(journal.append([data])), { headers: {}, data: text("kept") })
  )
  return yield* Effect.never
})

/** Tells it two things, crashes it with its disk, and reads what its successor would find. */
export const afterTheCrash = Effect.gen(function* () {
  const network = yield* MemoryNetwork.make()
  const disk = yield* MemoryDisk.make()
  const service = recorder.pipe(
    Effect.provide(MemoryNetwork.layer(network, "recorder")),
    Effect.provide(memoryJournal(disk)),
    Effect.scoped
  )
  const running = yield* Effect.forkChild(service, { startImmediately: true })
  const client = yield* network.endpoint("client")
  const tell = (what: string) =>
    client.request({ subject: "note", data: text(what), deadline: "100 millis" })

  yield* tell("first")
  yield* network.apply({ _tag: "Partition", left: ["client"], right: ["recorder"] })
  const unheard = yield* Effect.flip(tell("second"))
  yield* network.apply({ _tag: "Crash", node: "recorder" })
  yield* disk.apply({ _tag: "Crash" })
  running.interruptUnsafe()

  const successor = Effect.gen(function* () {
    const { entries } = yield* (yield* Journal).recover
    return yield* Stream.runCollect(entries)
  })
  const found = yield* Effect.provide(successor, memoryJournal(disk))
  return { unheard: unheard.code, found: found.map((entry) => new TextDecoder().decode(entry)) }
}).pipe(Effect.scoped)
