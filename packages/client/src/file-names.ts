/**
 * Names of plain files in the catalogue, and the freeing of what they leave behind.
 *
 * An answer that names file ids is carried out here: their chunks are freed, then the name is told
 * so. Whoever dies in between leaves the ids with the name, and the next event of it names them
 * again.
 */
import {
  type CatalogueEvent,
  type CatalogueOutput,
  type NamedFile,
  namedFileOf
} from "@holdfast/catalogue"
import { Effect, Stream } from "effect"
import { CatalogueClient } from "./catalogue-client.ts"
import { type CallFailed, CatalogueRefused } from "./errors.ts"
import { MetadataClient } from "./metadata-client.ts"

/** The events of a put, its giving up, or a deletion, each about one file id of a name. */
export type FileEvent = Extract<
  CatalogueEvent,
  { readonly _tag: "Begun" | "Stored" | "Deleted" | "GivenUp" }
>

const confirmed = { writeConcern: "majority" } as const

const nameOf = (event: FileEvent): string =>
  event._tag === "Stored" ? event.file.name : event.name

/** Reads names, sends their events, and frees what these leave behind. */
export const makeFileNames = Effect.gen(function* () {
  const catalogue = yield* CatalogueClient
  const metadata = yield* MetadataClient

  /** Frees every chunk of a file id; answers whether that went well, and logs why it did not. */
  const freeFile = (fileId: number): Effect.Effect<boolean> =>
    metadata.listChunks(fileId).pipe(
      Stream.map(({ chunk }) => chunk),
      Stream.runCollect,
      Effect.flatMap(metadata.free),
      Effect.as(true),
      Effect.catch((error) =>
        Effect.as(Effect.logWarning(`file ${fileId} was not freed: ${error.message}`), false)
      )
    )

  /** Frees file ids and lets their name forget those that are; the others stay known. */
  const free = Effect.fnUntraced(function* (
    name: string,
    fileIds: ReadonlyArray<number>
  ): Effect.fn.Return<void> {
    const freed = yield* Effect.filter(fileIds, freeFile)
    if (freed.length === 0) return
    const event = { _tag: "Freed", name, fileIds: freed } as const
    yield* catalogue
      .send(catalogue.fileKey(name), event, confirmed)
      .pipe(
        Effect.catch((error) => Effect.logWarning(`"${name}" was not told so: ${error.message}`))
      )
  })

  /** A name with its file and what it left behind. */
  const read = Effect.fnUntraced(function* (
    name: string
  ): Effect.fn.Return<NamedFile, CallFailed | CatalogueRefused> {
    const named = namedFileOf(name, yield* catalogue.entry(catalogue.fileKey(name)))
    if (named !== undefined) return named
    const message = `The entry of the file "${name}" is of something else.`
    return yield* new CatalogueRefused({ reason: "wrong-partition", message })
  })

  const conclude = Effect.fnUntraced(function* (
    event: FileEvent,
    output: CatalogueOutput
  ): Effect.fn.Return<void, CatalogueRefused> {
    switch (output._tag) {
      case "Accepted": {
        const { freeFile: loser, freeFiles = [] } = output
        yield* free(nameOf(event), loser === undefined ? freeFiles : [loser, ...freeFiles])
        if (!isOverruled(event, loser)) return
        const message = `A later file has the name "${nameOf(event)}" by now, or this put was given up: put it again.`
        return yield* new CatalogueRefused({ reason: "exists", message })
      }
      case "Unchanged":
      case "Covered":
        return
      case "Refused":
        return yield* new CatalogueRefused({ reason: output.reason, message: output.message })
    }
  })

  /** Sends an event, confirmed, and frees what its answer names. */
  const send = Effect.fnUntraced(function* (
    event: FileEvent
  ): Effect.fn.Return<void, CallFailed | CatalogueRefused> {
    const key = catalogue.fileKey(nameOf(event))
    yield* conclude(event, yield* catalogue.send(key, event, confirmed))
  })

  return { free, read, send }
})

/** Whether the file id that an event is about lost its place to another one. */
const isOverruled = (event: FileEvent, loser: number | undefined): boolean => {
  switch (event._tag) {
    case "Begun":
      return event.fileId === loser
    case "Stored":
      return event.file.fileId === loser
    case "Deleted":
    case "GivenUp":
      return false
  }
}
