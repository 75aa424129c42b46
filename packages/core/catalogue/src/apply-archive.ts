/**
 * The events of an archive.
 *
 * 1. Creating is idempotent; another archive of the name is refused until the first is removed.
 * 2. A change is made from a revision: the second of two changes from the same one is refused.
 * 3. Every event but `Created` names the file id: one meant for an earlier life changes nothing.
 */
import { Equal } from "effect"
import { refuse } from "./apply-segment.ts"
import type {
  ArchiveEntry,
  ArchiveOrigin,
  ArchiveSettings,
  ArchiveStatus
} from "./archive-settings.ts"
import type { Applied, CatalogueState } from "./events.ts"
import type { TagRule } from "./tag-rules.ts"

const sinceOf = (
  rules: ReadonlyArray<TagRule>,
  generation: number,
  before: ArchiveEntry | undefined
): Record<string, number> =>
  Object.fromEntries(
    rules.map((rule): [string, number] => {
      const earlier = before?.settings.tags.find(({ name }) => name === rule.name)
      const isOld = earlier !== undefined && Equal.equals(earlier, rule)
      return [rule.name, isOld ? (before?.rulesSince[rule.name] ?? generation) : generation]
    })
  )

const accepted = (archive: ArchiveEntry): Applied => ({
  output: { _tag: "Accepted", free: [] },
  state: { _tag: "Archive", archive }
})

const create = (origin: ArchiveOrigin, settings: ArchiveSettings): Applied =>
  accepted({
    origin,
    settings,
    status: "active",
    revision: 0,
    rules: 0,
    rulesSince: sinceOf(settings.tags, 0, undefined)
  })

/** An archive is created. */
export const applyCreated = (
  event: { readonly origin: ArchiveOrigin; readonly settings: ArchiveSettings },
  state: CatalogueState
): Applied => {
  switch (state._tag) {
    case "Empty":
      return create(event.origin, event.settings)
    case "Archive": {
      const { origin, status } = state.archive
      if (origin.name !== event.origin.name) {
        return refuse(state, "wrong-partition", "The key is another archive's.")
      }
      if (origin.fileId === event.origin.fileId) return { output: { _tag: "Unchanged" }, state }
      if (status === "removed" && event.origin.fileId > origin.fileId) {
        return create(event.origin, event.settings)
      }
      const message = `The archive "${origin.name}" exists already (file ${origin.fileId}).`
      return refuse(state, "exists", message)
    }
    case "Segment":
    case "ExpiredSegment":
    case "File":
    case "DeletedFile":
      return refuse(state, "wrong-partition", "This is not the entry of an archive.")
  }
}

/** The live archive that an event is for, or the refusal. */
const liveArchive = (fileId: number, state: CatalogueState): ArchiveEntry | Applied => {
  switch (state._tag) {
    case "Empty":
      return refuse(state, "not-found", "There is no such archive.")
    case "Segment":
    case "ExpiredSegment":
    case "File":
    case "DeletedFile":
      return refuse(state, "wrong-partition", "This is not the entry of an archive.")
    case "Archive": {
      const { origin, status } = state.archive
      if (origin.fileId !== fileId) {
        const message = `The archive "${origin.name}" is file ${origin.fileId}, not ${fileId}.`
        return refuse(state, "conflict", message)
      }
      if (status === "removed") {
        return refuse(state, "removed", `The archive "${origin.name}" was removed.`)
      }
      return state.archive
    }
  }
}

/** Settings are changed. */
export const applyChanged = (
  event: {
    readonly fileId: number
    readonly revision: number
    readonly settings: ArchiveSettings
  },
  state: CatalogueState
): Applied => {
  const archive = liveArchive(event.fileId, state)
  if ("output" in archive) return archive
  if (archive.revision !== event.revision) {
    const message = `The settings were changed since: they are at revision ${archive.revision}.`
    return refuse(state, "conflict", message)
  }
  const { settings } = event
  const isSameRules = Equal.equals(settings.tags, archive.settings.tags)
  const rules = isSameRules ? archive.rules : archive.rules + 1
  return accepted({
    ...archive,
    settings,
    revision: archive.revision + 1,
    rules,
    rulesSince: isSameRules ? archive.rulesSince : sinceOf(settings.tags, rules, archive)
  })
}

/** The archive's stream is seen with a configuration. */
export const applyDescribed = (
  event: { readonly fileId: number; readonly configuration: string },
  state: CatalogueState
): Applied => {
  const archive = liveArchive(event.fileId, state)
  if ("output" in archive) return archive
  const { origin } = archive
  if (origin.streamConfiguration === event.configuration) {
    return { output: { _tag: "Unchanged" }, state }
  }
  return accepted({ ...archive, origin: { ...origin, streamConfiguration: event.configuration } })
}

/** An archive is paused, resumed or removed. */
export const applyStatus = (
  event: { readonly fileId: number; readonly status: ArchiveStatus },
  state: CatalogueState
): Applied => {
  if (state._tag === "Archive" && state.archive.origin.fileId === event.fileId) {
    if (state.archive.status === event.status) return { output: { _tag: "Unchanged" }, state }
  }
  const archive = liveArchive(event.fileId, state)
  return "output" in archive ? archive : accepted({ ...archive, status: event.status })
}
