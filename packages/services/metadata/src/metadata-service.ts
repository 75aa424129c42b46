/**
 * The metadata service: one loop around the chunk map, with the journal behind it and Messaging
 * before it.
 *
 * ```
 *   clients, operators ──requests──▶ ┌────────┐ ──▶ journal
 *   chunk servers ──heartbeats────▶  │ engine │
 *                ──report parts───▶  └────────┘ ◀── ticks
 * ```
 * 1. What is answered is durable. What could not be made durable was not done.
 * 2. A start recovers every durable fact and is in safe mode until enough devices have reported.
 * 3. Stopping: no new requests, answers to those that wait, then the journal is let go.
 */
import { tick, type State } from "@holdfast/chunk-map"
import { Messaging, type MessagingError } from "@holdfast/messaging"
import type { Journal, JournalError } from "@holdfast/storage"
import {
  MetadataChunkServerOperations,
  MetadataOperations,
  serveOperation,
  type Operation,
  type RequestContext,
  type ServiceError
} from "@holdfast/wire"
import { Effect, Result, type Scope } from "effect"
import { chunkServerHandlers } from "./chunk-server-handlers.ts"
import { clientHandlers } from "./client-handlers.ts"
import { startEngine, type Engine } from "./engine.ts"
import { inspectHandlers } from "./inspect-handlers.ts"
import { showLoop, showState } from "./metrics.ts"
import { operatorHandlers } from "./operator-handlers.ts"
import { resolveOptions, type MetadataOptions, type Resolved } from "./options.ts"
import { recoverState } from "./recovery.ts"

/** A metadata service that runs. */
export interface MetadataService {
  /** The state after the last turn; it never changes. */
  readonly state: () => State
  /** Whether the journal took the last append. */
  readonly canWrite: () => boolean
}

/** The ports a metadata service stands on. */
export type MetadataPorts = Journal | Messaging

/** How often a journal that failed is tried. */
const PROBE_MS = 1_000
/** Bytes of a message that are no answer. */
const envelopeBytes = 16_384
/** How often the metrics are brought up to date. */
const METRICS_MS = 5_000

const tickForEver = (engine: Engine) => {
  const { tickMs, invariantsMs } = engine.options.service
  const judgedEvery = Math.max(1, Math.round(invariantsMs / tickMs))
  const probedEvery = Math.max(1, Math.round(PROBE_MS / tickMs))
  const shownEvery = Math.max(1, Math.round(METRICS_MS / tickMs))
  let ticks = 0
  const once = Effect.gen(function* () {
    yield* Effect.sleep(tickMs)
    ticks++
    if (!engine.canWrite() && ticks % probedEvery === 0) yield* engine.probe
    yield* engine.submit((draft) => Result.succeed(tick(draft)))
    if (ticks % judgedEvery === 0) yield* engine.judge
    if ((ticks - 1) % shownEvery === 0) {
      yield* showState(engine.state())
      yield* showLoop({ canWrite: engine.canWrite(), violations: engine.violations().length })
    }
  })
  return Effect.forever(
    Effect.catchCause(once, (cause) => Effect.logWarning("a tick did not happen", cause))
  )
}

type Handler<Request, Response> = (
  request: Request,
  context: RequestContext
) => Effect.Effect<Response, ServiceError>

const serveAll = Effect.fnUntraced(function* (options: Resolved, engine: Engine) {
  const { concurrency, backlog } = options.service
  const serve = <Request, Response>(
    operation: Operation<Request, Response>,
    handler: Handler<Request, Response>
  ) =>
    serveOperation(operation, {
      cluster: options.clusterId,
      concurrency,
      backlog,
      handler: (request, context) =>
        Effect.map(handler(request, context), (response) => ({ response }))
    })
  const chunkServers = chunkServerHandlers(engine)
  const { maxPayloadBytes } = yield* Messaging
  const clients = clientHandlers(engine, { answerBytesMax: maxPayloadBytes - envelopeBytes })
  const operators = operatorHandlers(engine)
  const inspect = inspectHandlers(engine)
  yield* serve(MetadataChunkServerOperations.heartbeat, chunkServers.heartbeat)
  yield* serve(MetadataChunkServerOperations.online, chunkServers.online)
  yield* serve(MetadataOperations.createFile, clients.createFile)
  yield* serve(MetadataOperations.alloc, clients.alloc)
  yield* serve(MetadataOperations.publish, clients.publish)
  yield* serve(MetadataOperations.abandon, clients.abandon)
  yield* serve(MetadataOperations.locate, clients.locate)
  yield* serve(MetadataOperations.search, clients.search)
  yield* serve(MetadataOperations.listChunks, clients.listChunks)
  yield* serve(MetadataOperations.free, clients.free)
  yield* serve(MetadataOperations.reportBad, clients.reportBad)
  yield* serve(MetadataOperations.offline, operators.offline)
  yield* serve(MetadataOperations.freeze, operators.freeze)
  yield* serve(MetadataOperations.thaw, operators.thaw)
  yield* serve(MetadataOperations.drain, operators.drain)
  yield* serve(MetadataOperations.drainBlockers, operators.drainBlockers)
  yield* serve(MetadataOperations.remove, operators.remove)
  yield* serve(MetadataOperations.safeMode, operators.safeMode)
  yield* serve(MetadataOperations.status, operators.status)
  yield* serve(MetadataOperations.devices, operators.devices)
  yield* serve(MetadataOperations.hosts, inspect.hosts)
  yield* serve(MetadataOperations.inspectChunk, inspect.inspectChunk)
  yield* serve(MetadataOperations.troubledChunks, inspect.troubledChunks)
})

/** Starts a metadata service; it stops when the scope closes. */
export const startMetadataService = Effect.fnUntraced(function* (
  options: MetadataOptions
): Effect.fn.Return<MetadataService, JournalError | MessagingError, MetadataPorts | Scope.Scope> {
  const resolved = resolveOptions(options)
  const engine = yield* startEngine(resolved, yield* recoverState(resolved))
  yield* Effect.forkScoped(tickForEver(engine))
  yield* serveAll(resolved, engine)
  return { state: engine.state, canWrite: engine.canWrite }
})
