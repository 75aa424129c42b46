/**
 * The ChunkTransport and ChunkEndpoint ports in memory: servers are found by URL, bytes go over the
 * links of a memory network.
 *
 * 1. A server's address is `memory://<host>:<port>`.
 * 2. Blocked and stalled links hold bytes back until a deadline or until they open; a delay of the
 *    link is taken for each piece. Loss, duplication and reordering do not touch a byte stream.
 * 3. A crash of a node ends its servers and their transfers: clients see `unreachable`.
 */
import { ChunkEndpoint, ChunkTransport, ChunkTransportError } from "@holdfast/storage"
import { Context, Effect, Layer, Scope } from "effect"
import { type ChunkServer, makeChunkServer } from "./chunk-server.ts"
import { readChunk, writeChunk } from "./chunk-transfer.ts"
import type { MemoryNetwork } from "./memory-network.ts"
import type { Node, NodeEndpoint } from "./network.ts"

/** The chunk servers of a network. */
export interface MemoryChunkPath {
  readonly network: MemoryNetwork
  readonly servers: Map<string, ChunkServer>
  /** The next port that is given to a server that asks for any. */
  nextPort: number
}

type ListenOptions = Parameters<ChunkEndpoint["Service"]["listen"]>[0]

const takeUrl = (path: MemoryChunkPath, options: ListenOptions) =>
  Effect.suspend(() => {
    const port = options.port === 0 ? path.nextPort++ : options.port
    const url = `memory://${options.host}:${port}`
    return path.servers.has(url)
      ? Effect.fail(
          new ChunkTransportError({
            code: "unavailable",
            deviceId: "",
            message: `${url} is taken`
          })
        )
      : Effect.succeed(url)
  })

const listen = (path: MemoryChunkPath, node: Node): ChunkEndpoint["Service"]["listen"] =>
  Effect.fnUntraced(function* (options) {
    const url = yield* takeUrl(path, options)
    const context = Context.omit(Scope.Scope)(yield* Effect.context<Scope.Scope>())
    const server = makeChunkServer({
      node: node.name,
      handlers: options.handlers,
      transfersMax: options.transfersMax,
      context
    })
    const forget = () => {
      if (path.servers.get(url) === server) path.servers.delete(url)
    }
    const nodeEndpoint: NodeEndpoint = {
      crash: () => {
        forget()
        server.kill()
      },
      connectionChanged: () => undefined
    }
    path.servers.set(url, server)
    node.endpoints.add(nodeEndpoint)
    yield* Effect.addFinalizer(() => {
      forget()
      return Effect.ensuring(
        server.drain,
        Effect.sync(() => node.endpoints.delete(nodeEndpoint))
      )
    })
    return { url }
  })

/** Makes chunk paths, and layers of their nodes. */
export const MemoryChunkPath = {
  /** A path without servers over the links of a network. */
  make: (network: MemoryNetwork): MemoryChunkPath => ({
    network,
    servers: new Map(),
    nextPort: 40_000
  }),
  /** The client's side, on a node. */
  layerTransport: (path: MemoryChunkPath, node: string): Layer.Layer<ChunkTransport> => {
    const client = { network: path.network.internals, node, servers: path.servers }
    return Layer.succeed(ChunkTransport, {
      write: (options) => writeChunk(client, options),
      read: (options) => readChunk(client, options)
    })
  },
  /** The server's side, on a node. */
  layerEndpoint: (path: MemoryChunkPath, node: string): Layer.Layer<ChunkEndpoint> =>
    Layer.succeed(ChunkEndpoint, { listen: listen(path, path.network.internals.node(node)) })
}
