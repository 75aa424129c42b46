/**
 * The events of a segment.
 *
 * 1. Sealing is idempotent: the same chunk again changes nothing.
 * 2. Of several segments with one key the winner does not depend on the order in which they come:
 *    the later life of the archive, then the greater last position, then the smaller chunk. So a
 *    loser, once named, can never win again, and its chunk may be freed: what shares a key is
 *    complete, hence within the longer one, or of the same contents.
 * 3. What expired stays expired within the same life of its archive.
 * 4. No event makes the entry refer to a chunk that an earlier answer said to free.
 */
import { compareBytes } from "./ordered-bytes.ts"
import type { Applied, CatalogueOutput, CatalogueState, RefusalReason } from "./events.ts"
import type { SegmentChunk, SegmentEntry } from "./segment-entry.ts"

type SegmentState = Extract<CatalogueState, { readonly _tag: "Segment" }>
type ExpiredState = Extract<CatalogueState, { readonly _tag: "ExpiredSegment" }>

/** Whether two chunks are the same version of the same chunk. */
export const isSameChunk = (left: SegmentChunk, right: SegmentChunk): boolean =>
  left.fileId === right.fileId && left.chunkId === right.chunkId && left.version === right.version

/** The answer of an event that is not for this partition or comes too late. */
export const refuse = (state: CatalogueState, reason: RefusalReason, message: string): Applied => ({
  output: { _tag: "Refused", reason, message },
  state
})

const accepted = (state: CatalogueState, free: ReadonlyArray<SegmentChunk>): Applied => ({
  output: { _tag: "Accepted", free },
  state
})

const unchanged: CatalogueOutput = { _tag: "Unchanged" }

const isSameKey = (left: SegmentEntry, right: SegmentEntry): boolean =>
  left.archive === right.archive &&
  left.shard === right.shard &&
  left.first === right.first &&
  left.complete === right.complete &&
  (left.complete || compareBytes(left.digest, right.digest) === 0)

const beats = (challenger: SegmentEntry, holder: SegmentEntry): boolean => {
  if (challenger.chunk.fileId !== holder.chunk.fileId) {
    return challenger.chunk.fileId > holder.chunk.fileId
  }
  if (challenger.last !== holder.last) return challenger.last > holder.last
  if (challenger.chunk.chunkId !== holder.chunk.chunkId) {
    return challenger.chunk.chunkId < holder.chunk.chunkId
  }
  return challenger.chunk.version < holder.chunk.version
}

/** A segment is sealed. */
export const applySealed = (segment: SegmentEntry, state: CatalogueState): Applied => {
  switch (state._tag) {
    case "Empty":
      return accepted({ _tag: "Segment", segment }, [])
    case "Segment":
      return sealOver(segment, state)
    case "ExpiredSegment":
      return sealExpired(segment, state)
    case "Archive":
    case "File":
    case "DeletedFile":
      return refuse(state, "wrong-partition", "This is not the entry of a segment.")
  }
}

const sealOver = (segment: SegmentEntry, state: SegmentState): Applied => {
  const held = state.segment
  if (!isSameKey(segment, held)) {
    return refuse(state, "wrong-partition", "The key is another segment's.")
  }
  if (isSameChunk(segment.chunk, held.chunk)) return { output: unchanged, state }
  if (beats(segment, held)) return accepted({ _tag: "Segment", segment }, [held.chunk])
  return { output: { _tag: "Covered", winner: held.chunk, free: [segment.chunk] }, state }
}

const sealExpired = (segment: SegmentEntry, state: ExpiredState): Applied => {
  const { archive, first, shard } = state
  if (segment.archive !== archive || segment.shard !== shard || segment.first !== first) {
    return refuse(state, "wrong-partition", "The key is another segment's.")
  }
  if (segment.chunk.fileId > state.chunk.fileId) return accepted({ _tag: "Segment", segment }, [])
  if (isSameChunk(segment.chunk, state.chunk)) return { output: unchanged, state }
  const output: CatalogueOutput = {
    _tag: "Covered",
    winner: state.chunk,
    free: [segment.chunk]
  }
  return { output, state }
}

/** A segment goes. Repeats name the chunk to free again, for a sender that died in between. */
export const applyExpired = (
  event: { readonly chunk: SegmentChunk; readonly reason: ExpiredState["reason"] },
  state: CatalogueState
): Applied => {
  switch (state._tag) {
    case "Empty":
      return refuse(state, "not-found", "There is no such segment.")
    case "Segment": {
      const { archive, chunk, first, last, shard } = state.segment
      if (!isSameChunk(chunk, event.chunk)) {
        return refuse(state, "conflict", "The segment is kept in another chunk by now.")
      }
      const { reason } = event
      const expired = { archive, shard, first, last, chunk, reason }
      return accepted({ _tag: "ExpiredSegment", ...expired }, [chunk])
    }
    case "ExpiredSegment":
      return isSameChunk(state.chunk, event.chunk)
        ? accepted(state, [state.chunk])
        : refuse(state, "conflict", "The segment expired in another chunk.")
    case "Archive":
    case "File":
    case "DeletedFile":
      return refuse(state, "wrong-partition", "This is not the entry of a segment.")
  }
}

/** Another chunk takes a segment's place. */
export const applyReplaced = (
  event: { readonly replaces: SegmentChunk; readonly segment: SegmentEntry },
  state: CatalogueState
): Applied => {
  switch (state._tag) {
    case "Empty":
      return refuse(state, "not-found", "There is no such segment.")
    case "Segment": {
      const held = state.segment
      if (!isSameKey(event.segment, held)) {
        return refuse(state, "wrong-partition", "The key is another segment's.")
      }
      if (isSameChunk(event.segment.chunk, held.chunk)) return { output: unchanged, state }
      if (!isSameChunk(event.replaces, held.chunk)) {
        return refuse(state, "conflict", "The segment is kept in another chunk by now.")
      }
      if (event.segment.last < held.last) {
        return refuse(state, "conflict", "The replacement holds fewer records.")
      }
      return accepted({ _tag: "Segment", segment: event.segment }, [held.chunk])
    }
    case "ExpiredSegment":
      return refuse(state, "expired", "The segment has expired.")
    case "Archive":
    case "File":
    case "DeletedFile":
      return refuse(state, "wrong-partition", "This is not the entry of a segment.")
  }
}
