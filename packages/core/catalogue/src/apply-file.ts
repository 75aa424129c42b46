/**
 * The events of a plain file.
 *
 * 1. Of two files of one name the one with the higher file id stays, in whatever order they come;
 *    the other one's chunks are freed by whoever is answered so.
 * 2. What was deleted stays deleted, unless a later file takes the name.
 */
import { refuse } from "./apply-segment.ts"
import type { Applied, CatalogueState } from "./events.ts"
import type { FileEntry } from "./file-entry.ts"

const replaced = (state: CatalogueState, freeFile: number): Applied => ({
  output: { _tag: "Accepted", free: [], freeFile },
  state
})

const otherKind = (state: CatalogueState): Applied =>
  refuse(state, "wrong-partition", "This is the entry of something else than a file.")

/** A file is stored. */
export const applyStored = (file: FileEntry, state: CatalogueState): Applied => {
  switch (state._tag) {
    case "Empty":
      return { output: { _tag: "Accepted", free: [] }, state: { _tag: "File", file } }
    case "File": {
      const held = state.file
      if (held.name !== file.name) return otherKind(state)
      if (held.fileId === file.fileId) return { output: { _tag: "Unchanged" }, state }
      return file.fileId > held.fileId
        ? replaced({ _tag: "File", file }, held.fileId)
        : replaced(state, file.fileId)
    }
    case "DeletedFile":
      if (state.name !== file.name) return otherKind(state)
      return file.fileId > state.fileId
        ? { output: { _tag: "Accepted", free: [] }, state: { _tag: "File", file } }
        : replaced(state, file.fileId)
    case "Segment":
    case "ExpiredSegment":
    case "Archive":
      return otherKind(state)
  }
}

/** A file is deleted; a repeat names its chunks again, for a sender that died in between. */
export const applyDeleted = (
  event: { readonly name: string; readonly fileId: number },
  state: CatalogueState
): Applied => {
  const { fileId, name } = event
  switch (state._tag) {
    case "Empty":
      return refuse(state, "not-found", `There is no file "${name}".`)
    case "File":
      if (state.file.name !== name) return otherKind(state)
      return state.file.fileId === fileId
        ? replaced({ _tag: "DeletedFile", name, fileId }, fileId)
        : refuse(state, "conflict", `Another file took the name "${name}" since.`)
    case "DeletedFile":
      return state.name === name && state.fileId === fileId
        ? replaced(state, fileId)
        : refuse(state, "not-found", `There is no file "${name}".`)
    case "Segment":
    case "ExpiredSegment":
    case "Archive":
      return otherKind(state)
  }
}
