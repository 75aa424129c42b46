/**
 * Five peers over NATS, each a process, under constant writes and searches: a rolling restart, two
 * killed at once, one of them ejected and back as a new life, a sixth that joins. No request fails,
 * no confirmed write is lost, every search is complete or a typed failure.
 */
import { layerChunkTransport } from "@holdfast/adapter-http"
import { NatsConnections, natsMessagingLayer } from "@holdfast/adapter-nats"
import { archiveSettingsDefault } from "@holdfast/catalogue"
import { CatalogueClient, type CatalogueError, clientLayer } from "@holdfast/client"
import { Effect, Layer, ManagedRuntime, Result, Stream } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type NatsServer, startNatsServer } from "./nats-server.ts"
import { eventually, type Finished, holdfast, type Running, start } from "./process.ts"

const founders = ["p1", "p2", "p3", "p4", "p5"]
const limitMs = 120_000
const writers = 4
/** A write is confirmed by a majority of its owners; the others have it so much later at most. */
const spreadMs = 5_000
const folder = mkdtempSync(join(tmpdir(), "holdfast-peers-"))

let server: NatsServer
let runtime: ManagedRuntime.ManagedRuntime<CatalogueClient, unknown>
const processes = new Map<string, Running>()

const launch = async (peer: string, ...more: ReadonlyArray<string>): Promise<void> => {
  const how = founders.includes(peer) ? ["--peers", founders.join(",")] : ["--join"]
  const data = ["--data", join(folder, peer)]
  const running = start(["peer", "--nats", server.url, "--id", peer, ...data, ...how, ...more])
  processes.set(peer, running)
  await running.said("is ready", limitMs)
}

const end = async (peer: string, signal: "SIGKILL" | "SIGTERM"): Promise<void> => {
  processes.get(peer)?.kill(signal)
  await processes.get(peer)?.exited
}

const peers = (...args: ReadonlyArray<string>): Promise<Finished> =>
  holdfast(["peers", ...args, "--nats", server.url, "--json"], { limitMs })

/** Waits until all agree on these members, and every key lies where it should. */
const settled = (members: ReadonlyArray<string>) =>
  eventually(
    `the members are ${members.join(", ")}`,
    async () => {
      const { status, stdout } = await peers("cluster")
      if (status !== 0) return undefined
      const view = JSON.parse(stdout)
      const names = view.members.map(({ peer }: { readonly peer: string }) => peer)
      const held = view.members.reduce(
        (sum: number, { share }: { readonly share: number }) => sum + share,
        0
      )
      const isDone = view.step === null && view.pending === 0 && held > 0.999
      return isDone && names.join() === members.join() ? view : undefined
    },
    limitMs
  )

/** Ranges that nobody answers for now, or no answer in time: asked again later, it is whole. */
const isPassing = (failure: CatalogueError): boolean =>
  failure._tag === "CatalogueIncomplete" || (failure._tag === "CallFailed" && failure.retryable)

/** What the load has done so far. */
class Load {
  /** With the moment of its confirmation. */
  readonly confirmed = new Map<string, number>()
  readonly failures: Array<string> = []
  searches = 0
  isOver = false
  #next = 0

  async write(): Promise<void> {
    while (!this.isOver) {
      const name = `archive-${(this.#next += 1)}`
      const written = await runtime.runPromise(Effect.result(create(name, this.#next)))
      if (Result.isSuccess(written)) this.confirmed.set(name, performance.now())
      else this.failures.push(`${name}: ${written.failure.message}`)
    }
  }

  /** A search that answers has everything that was confirmed a while before it began. */
  async search(): Promise<void> {
    while (!this.isOver) {
      const since = performance.now() - spreadMs
      const before = [...this.confirmed].flatMap(([name, at]) => (at < since ? [name] : []))
      const found = await runtime.runPromise(Effect.result(allArchives))
      this.searches += 1
      if (Result.isFailure(found)) {
        if (!isPassing(found.failure)) this.failures.push(found.failure.message)
        continue
      }
      const names = new Set(found.success)
      const lacking = before.filter((name) => !names.has(name))
      if (lacking.length > 0) this.failures.push(`a search lacks ${lacking.slice(0, 3).join(", ")}`)
    }
  }
}

const create = (name: string, fileId: number) =>
  Effect.flatMap(CatalogueClient, (catalogue) =>
    catalogue.send(
      catalogue.archiveKey(name),
      {
        _tag: "Created",
        origin: { name, stream: name, shards: [], fileId, created: 0n },
        settings: archiveSettingsDefault
      },
      { writeConcern: "majority", requestId: `create ${name}` }
    )
  )

const allArchives: Effect.Effect<
  ReadonlyArray<string>,
  CatalogueError,
  CatalogueClient
> = Effect.flatMap(CatalogueClient, (catalogue) =>
  catalogue.walk(catalogue.tags.archives).pipe(
    Stream.map(({ entry }) => (entry._tag === "Archive" ? entry.archive.origin.name : "")),
    Stream.runCollect
  )
)

beforeAll(async () => {
  server = await startNatsServer()
  await Promise.all(founders.map((peer) => launch(peer)))
  const connections = NatsConnections.layer({ servers: [server.url], name: "test" })
  runtime = ManagedRuntime.make(
    clientLayer({ cluster: "holdfast", sender: "test" }).pipe(
      Layer.provide(
        Layer.merge(natsMessagingLayer().pipe(Layer.provide(connections)), layerChunkTransport)
      )
    )
  )
}, 300_000)

afterAll(async () => {
  await runtime.dispose()
  await Promise.all([...processes.keys()].map((peer) => end(peer, "SIGKILL")))
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe("five peers under load", () => {
  it("peer-B18, peer-B11: restarts, deaths, an ejection, a new life and a join lose nothing", async () => {
    const load = new Load()
    const running = [
      ...Array.from({ length: writers }, () => load.write()),
      load.search(),
      load.search()
    ]
    for (const peer of founders) {
      await end(peer, "SIGTERM")
      await launch(peer)
    }
    await Promise.all(["p2", "p4"].map((peer) => end(peer, "SIGKILL")))
    const refused = await peers("eject", "p2")
    expect(refused.stderr).toContain("--yes")
    await launch("p4")
    expect((await peers("eject", "p2", "--yes")).status).toBe(0)
    await settled(["p1", "p3", "p4", "p5"])
    await launch("p2", "--reintegrate")
    await launch("p6")
    await settled(["p1", "p2", "p3", "p4", "p5", "p6"])
    load.isOver = true
    await Promise.all(running)
    expect(load.failures).toEqual([])
    expect(load.searches).toBeGreaterThan(10)
    expect(load.confirmed.size).toBeGreaterThan(100)
    const found = await runtime.runPromise(allArchives)
    expect([...found].sort()).toEqual([...load.confirmed.keys()].sort())
  }, 300_000)

  it("a peer that leaves ends by itself, and its old store is told so", async () => {
    expect((await peers("leave", "p3")).status).toBe(0)
    expect(await processes.get("p3")?.exited).toBe(0)
    await settled(["p1", "p2", "p4", "p5", "p6"])
    const again = await holdfast(
      ["peer", "--nats", server.url, "--id", "p3", "--data", join(folder, "p3"), "--join"],
      { limitMs }
    )
    expect(again.status).toBe(1)
    expect(again.stderr).toContain("has left the cluster for good")
  }, 300_000)
})
