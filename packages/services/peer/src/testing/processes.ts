/**
 * Peers in processes of their own, for the benchmark: on NATS, with their stores in directories.
 */
import { PeerId } from "@holdfast/keyspace"
import type { Messaging } from "@holdfast/messaging"
import type { PartitionStore } from "@holdfast/storage"
import { ClusterId } from "@holdfast/wire"
import { type ChildProcess, spawn } from "node:child_process"
import { Effect, Layer } from "effect"
import { hostApplication, Peer } from "../index.ts"
import { counter } from "./cluster.ts"

/** The peers of the benchmark. */
export const benchPeers = ["a", "b", "c"]

/** Runs one of them in this process until it is killed; it says so when it serves. */
export const runBenchPeer = <E>(
  name: string,
  ports: Layer.Layer<Messaging | PartitionStore, E>
): Promise<never> => {
  const options = {
    cluster: ClusterId.make("c1"),
    peer: PeerId.make(name),
    founders: benchPeers.map((each) => ({ peer: PeerId.make(each) })),
    applications: [hostApplication(counter)]
  }
  const peer = Layer.tap(Peer.layer(options), () => Effect.sync(() => process.stdout.write("up\n")))
  return Effect.runPromise(Layer.launch(Layer.provide(peer, ports)))
}

/** Starts a peer in a child process by the same file, and waits until it serves. */
export const spawnBenchPeer = (
  file: string,
  parameters: ReadonlyArray<string>
): Promise<ChildProcess> => {
  const child = spawn(process.execPath, ["--conditions=@holdfast/source", file, ...parameters], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, HOLDFAST_BENCH_ROWS: undefined }
  })
  process.once("exit", () => child.kill("SIGKILL"))
  return new Promise((resolve, reject) => {
    child.stdout.once("data", () => resolve(child))
    child.once("exit", (code) => reject(new Error(`a peer ended with ${code}`)))
  })
}
