/**
 * What a device holds, as one sum: kept up while copies come and go, set anew by each listing.
 *
 *     listing   visit ─ visit ─ visit ─────────────▶ end: the sum of the listing takes the place of
 *     changes         + a   - b        + c               the old one, with the changes during it
 *
 * 1. Outside listings the digest is the one of the last listing plus the changes since.
 * 2. A listing visits copies in (file, chunk, version) order. A change of a copy during it counts
 *    once, whether the listing passed the copy before or passes it after.
 * 3. Whatever made the sum wrong, the next listing puts it right.
 * 4. A sum that cannot be, as when copies go that no listing has counted, is told as that of
 *    nothing: a heartbeat can carry it, and the service, which holds another, asks for a listing.
 */
import type { ChunkName } from "@holdfast/storage"
import { type Digest, digestAdd, digestRemove, emptyDigest } from "@holdfast/chunk-map"

/** A listing under way. */
interface Listing {
  digest: Digest
  last: ChunkName | undefined
  /** Copies that changed during it, and whether each is there now. */
  readonly changed: Map<string, { readonly chunk: ChunkName; readonly isThere: boolean }>
}

/** The sum of one device's copies. */
export interface CopyLedger {
  readonly digest: () => Digest
  /** A copy came that was not there before. */
  readonly added: (chunk: ChunkName) => void
  /** A copy went. */
  readonly removed: (chunk: ChunkName) => void
  /** Begins a listing; one that did not end is forgotten. */
  readonly beginListing: () => void
  /** Counts a listed copy; false when it changed meanwhile and is accounted for already. */
  readonly visit: (chunk: ChunkName) => boolean
  /** Ends the listing; answers the copies that came during it. */
  readonly endListing: () => ReadonlyArray<ChunkName>
}

/** A copy as one string. */
export const copyKey = (chunk: ChunkName): string =>
  `${chunk.fileId}/${chunk.chunkId}/${chunk.version}`

const isAtOrBefore = (left: ChunkName, right: ChunkName): boolean => {
  if (left.fileId !== right.fileId) return left.fileId < right.fileId
  if (left.chunkId !== right.chunkId) return left.chunkId < right.chunkId
  return left.version <= right.version
}

const add = (digest: Digest, chunk: ChunkName): Digest =>
  digestAdd(digest, chunk.fileId, chunk.chunkId, chunk.version)

const remove = (digest: Digest, chunk: ChunkName): Digest =>
  digestRemove(digest, chunk.fileId, chunk.chunkId, chunk.version)

const change = (listing: Listing, chunk: ChunkName, isThere: boolean): void => {
  const key = copyKey(chunk)
  const wasPassed = listing.last !== undefined && isAtOrBefore(chunk, listing.last)
  const wasCounted = wasPassed && !listing.changed.has(key) && !isThere
  if (wasCounted) listing.digest = remove(listing.digest, chunk)
  listing.changed.set(key, { chunk, isThere })
}

/** Opens the ledger of a device. */
export const makeCopyLedger = (): CopyLedger => {
  let digest = emptyDigest
  let listing: Listing | undefined
  return {
    digest: () => (digest.count < 0 ? emptyDigest : digest),
    added: (chunk) => {
      digest = add(digest, chunk)
      if (listing !== undefined) change(listing, chunk, true)
    },
    removed: (chunk) => {
      digest = remove(digest, chunk)
      if (listing !== undefined) change(listing, chunk, false)
    },
    beginListing: () => {
      listing = { digest: emptyDigest, last: undefined, changed: new Map() }
    },
    visit: (chunk) => {
      if (listing === undefined) return true
      listing.last = chunk
      if (listing.changed.has(copyKey(chunk))) return false
      listing.digest = add(listing.digest, chunk)
      return true
    },
    endListing: () => {
      if (listing === undefined) return []
      const came = [...listing.changed.values()].flatMap(({ chunk, isThere }) =>
        isThere ? [chunk] : []
      )
      digest = came.reduce(add, listing.digest)
      listing = undefined
      return came
    }
  }
}
