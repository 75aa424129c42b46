/**
 * The archive's partition application: entries of segments and archives, folded from events.
 *
 *     Sealed, Replaced, Expired            ─▶ one partition a segment
 *     Created, Changed, Described,         ─▶ one partition an archive
 *     Paused, Resumed, Removed
 *     Begun, Stored, Deleted, GivenUp,     ─▶ one partition a plain file's name
 *     Freed
 *
 * 1. `apply` is total and pure: an event that does not fit answers `Refused` and changes nothing.
 * 2. `index` gives every tag of an entry, each at most 512 bytes.
 * 3. A repeat of an event changes nothing.
 */
import { applyChanged, applyCreated, applyDescribed, applyStatus } from "./apply-archive.ts"
import { applyBegun, applyDeleted, applyFreed, applyGivenUp, applyStored } from "./apply-file.ts"
import { applyExpired, applyReplaced, applySealed } from "./apply-segment.ts"
import { type Applied, CatalogueEvent, CatalogueOutput, CatalogueState } from "./events.ts"
import { makeTagIndex } from "./index-tags.ts"
import type { CataloguePlatform } from "./platform.ts"

/** The application's name on the peers. */
export const catalogueName = "catalogue"

/** What an event makes of an entry. */
export const applyEvent = (event: CatalogueEvent, state: CatalogueState): Applied => {
  switch (event._tag) {
    case "Sealed":
      return applySealed(event.segment, state)
    case "Expired":
      return applyExpired(event, state)
    case "Replaced":
      return applyReplaced(event, state)
    case "Created":
      return applyCreated(event, state)
    case "Changed":
      return applyChanged(event, state)
    case "Described":
      return applyDescribed(event, state)
    case "Paused":
      return applyStatus({ fileId: event.fileId, status: "paused" }, state)
    case "Resumed":
      return applyStatus({ fileId: event.fileId, status: "active" }, state)
    case "Removed":
      return applyStatus({ fileId: event.fileId, status: "removed" }, state)
    case "Begun":
      return applyBegun(event, state)
    case "Stored":
      return applyStored(event.file, state)
    case "Deleted":
      return applyDeleted(event, state)
    case "GivenUp":
      return applyGivenUp(event, state)
    case "Freed":
      return applyFreed(event, state)
  }
}

/** The application as peers host it. */
export const makeCatalogue = (platform: Pick<CataloguePlatform, "encodeText" | "sha256">) => {
  const initial: CatalogueState = { _tag: "Empty" }
  return {
    name: catalogueName,
    version: 1,
    Event: CatalogueEvent,
    Output: CatalogueOutput,
    State: CatalogueState,
    initial,
    apply: applyEvent,
    index: makeTagIndex(platform).tagsOf
  }
}
