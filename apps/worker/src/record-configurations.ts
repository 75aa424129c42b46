/**
 * Keeps each archive's record of its stream's configuration up to date, so that the stream can be
 * restored as it was. Every worker looks; recording the same twice changes nothing. What is away
 * now is looked at again; a stream that is gone keeps the configuration that it had.
 */
import { describeStream, NatsConnections } from "@holdfast/adapter-nats"
import { ArchiveClient } from "@holdfast/client"
import { Effect, Option, Schedule, Stream } from "effect"

const interval = "10 seconds"

type Archive = Parameters<ArchiveClient["Service"]["describe"]>[0]

/** Looks at the streams of all archives until the scope closes. */
export const recordConfigurations = Effect.gen(function* () {
  const archives = yield* ArchiveClient
  const { control } = yield* NatsConnections
  const record = Effect.fnUntraced(function* (archive: Archive) {
    const { stream } = archive.origin
    const found = yield* describeStream(control, { stream })
    if (Option.isSome(found)) yield* archives.describe(archive, found.value.configuration)
  })
  const look = archives.list().pipe(
    Stream.filter(({ status }) => status === "active"),
    Stream.runForEach((archive) =>
      Effect.catch(record(archive), (error) =>
        Effect.logDebug(`the stream of ${archive.origin.name} was not looked at`, error)
      )
    ),
    Effect.catch((error) => Effect.logDebug("the archives were not looked at", error))
  )
  yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(interval)))
})
