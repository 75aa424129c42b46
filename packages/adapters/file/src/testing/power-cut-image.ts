/**
 * What a machine's memory and its disk hold of a small file system at one moment, and what of it
 * a power cut may leave.
 *
 *     image ─ possibleLosses ─▶ losses ─ settle(some of them) ─▶ an image with nothing at risk
 *
 * 1. A file's bytes since its last sync may be old or new, each sector of 512 bytes by itself
 *    (old beyond the old end is zeros), and the file may end before any sector it has gained; of a
 *    file that was cut, the old end may still be there.
 * 2. Each change of a name (created, removed, renamed: one in each directory) since its
 *    directory's last sync may be there or not, whatever became of those before it.
 * 3. Images are values: settling one changes nothing in it.
 */

/** A file or a directory; the root is 0. */
export type NodeId = number

/** A name that was given to a node, or taken away. */
export interface NameChange {
  readonly name: string
  readonly node: NodeId | undefined
}

/** A file as synced, and as its readers see it. */
export interface FileImage {
  readonly durable: Uint8Array
  readonly cached: Uint8Array
}

/** A directory as synced, and what happened to it since. */
export interface FolderImage {
  readonly durable: ReadonlyMap<string, NodeId>
  readonly changes: ReadonlyArray<NameChange>
}

/** A whole file system. */
export interface DiskImage {
  readonly files: ReadonlyMap<NodeId, FileImage>
  readonly folders: ReadonlyMap<NodeId, FolderImage>
}

/** One thing that a power cut may take. */
export type Loss =
  | { readonly _tag: "Name"; readonly folder: NodeId; readonly change: NameChange }
  | { readonly _tag: "Sector"; readonly file: NodeId; readonly sector: number }
  | { readonly _tag: "End"; readonly file: NodeId; readonly sector: number }
  | { readonly _tag: "Cut"; readonly file: NodeId; readonly sector: number }

/** Bytes that a disk writes all or not at all. */
export const sectorBytes = 512
/** The root directory. */
export const rootId: NodeId = 0

/** A file system with an empty root. */
export const emptyImage: DiskImage = {
  files: new Map(),
  folders: new Map([[rootId, { durable: new Map(), changes: [] }]])
}

/** Applies changes of names in their order. */
export const withChanges = (
  names: ReadonlyMap<string, NodeId>,
  changes: ReadonlyArray<NameChange>
): ReadonlyMap<string, NodeId> => {
  const changed = new Map(names)
  for (const { name, node } of changes) {
    if (node === undefined) changed.delete(name)
    else changed.set(name, node)
  }
  return changed
}

/** The first bytes of `length`, with zeros after the end. */
const padded = (bytes: Uint8Array, length: number): Uint8Array => {
  const whole = new Uint8Array(length)
  whole.set(bytes.subarray(0, length))
  return whole
}

const sectorsOf = (length: number): ReadonlyArray<number> =>
  Array.from({ length: Math.ceil(length / sectorBytes) }, (_, sector) => sector)

const lossesOfFile = (file: NodeId, { durable, cached }: FileImage): ReadonlyArray<Loss> => {
  if (durable === cached) return []
  const old = padded(durable, cached.length)
  const slice = (bytes: Uint8Array, sector: number) =>
    bytes.subarray(sector * sectorBytes, (sector + 1) * sectorBytes)
  const cut = { _tag: "Cut", file, sector: 0 } as const
  const sectors = sectorsOf(cached.length).flatMap((sector): ReadonlyArray<Loss> => {
    const isOther = Buffer.compare(slice(old, sector), slice(cached, sector)) !== 0
    const isGained = (sector + 1) * sectorBytes > durable.length && cached.length > durable.length
    return [
      ...(isOther ? [{ _tag: "Sector", file, sector } as const] : []),
      ...(isGained ? [{ _tag: "End", file, sector } as const] : [])
    ]
  })
  return durable.length > cached.length ? [cut, ...sectors] : sectors
}

/** All that a power cut may take from an image, one by one. */
export const possibleLosses = (image: DiskImage): ReadonlyArray<Loss> => [
  ...[...image.folders].flatMap(([folder, { changes }]) =>
    changes.map((change): Loss => ({ _tag: "Name", folder, change }))
  ),
  ...[...image.files].flatMap(([file, content]) => lossesOfFile(file, content))
]

const settleFile = (
  file: FileImage,
  losses: ReadonlyArray<Exclude<Loss, { readonly _tag: "Name" }>>
): FileImage => {
  const { durable, cached } = file
  if (losses.length === 0) return durable === cached ? file : { durable: cached, cached }
  const bytes = new Uint8Array(cached)
  const old = padded(durable, cached.length)
  let end = cached.length
  for (const { _tag, sector } of losses) {
    const start = sector * sectorBytes
    if (_tag === "End") end = Math.min(end, Math.max(start, durable.length))
    if (_tag === "Sector") bytes.set(old.subarray(start, start + sectorBytes), start)
  }
  const isUncut = losses.some(({ _tag }) => _tag === "Cut")
  const settled = isUncut
    ? Buffer.concat([bytes, durable.subarray(bytes.length)])
    : bytes.slice(0, end)
  return { durable: settled, cached: settled }
}

/** What the disk holds after a power cut that took `lost` and nothing else. */
export const settle = (image: DiskImage, lost: ReadonlyArray<Loss>): DiskImage => {
  const lostNames = new Set(lost.flatMap((loss) => (loss._tag === "Name" ? [loss.change] : [])))
  const lostBytes = lost.flatMap((loss) => (loss._tag === "Name" ? [] : [loss]))
  return {
    files: new Map(
      [...image.files].map(([id, file]) => [
        id,
        settleFile(
          file,
          lostBytes.filter((loss) => loss.file === id)
        )
      ])
    ),
    folders: new Map(
      [...image.folders].map(([id, { durable, changes }]) => {
        const kept = changes.filter((change) => !lostNames.has(change))
        return [id, { durable: withChanges(durable, kept), changes: [] }]
      })
    )
  }
}

/** Every way to lose nothing, one of `losses`, and all of them. */
export const lossesUpToOne = (losses: ReadonlyArray<Loss>): Iterable<ReadonlyArray<Loss>> => [
  [],
  ...losses.map((loss) => [loss]),
  losses
]

/** Every way to lose nothing, one or two of `losses`, all but one of them, and all. */
export function* lossesUpToTwo(losses: ReadonlyArray<Loss>): Generator<ReadonlyArray<Loss>> {
  yield* lossesUpToOne(losses)
  for (const [index, first] of losses.entries()) {
    yield losses.filter((loss) => loss !== first)
    for (const second of losses.slice(index + 1)) yield [first, second]
  }
}

/** The same of names alone; no bytes are lost. */
export const namesUpToTwo = (losses: ReadonlyArray<Loss>): Iterable<ReadonlyArray<Loss>> =>
  lossesUpToTwo(losses.filter(({ _tag }) => _tag === "Name"))

/** The image with each named file's bytes edited, the synced ones too. */
export const withEditedFiles = (
  image: DiskImage,
  edit: (name: string, bytes: Uint8Array) => Uint8Array
): DiskImage => {
  const files = new Map(image.files)
  for (const { durable, changes } of image.folders.values()) {
    const named = [...durable, ...changes.map(({ name, node }) => [name, node] as const)]
    for (const [name, node] of named) {
      const file = node === undefined ? undefined : files.get(node)
      if (node === undefined || file === undefined) continue
      const cached = edit(name, file.cached)
      const isSynced = file.durable === file.cached
      files.set(node, { durable: isSynced ? cached : edit(name, file.durable), cached })
    }
  }
  return { ...image, files }
}

/** The files of an image by their paths, as readers see them. */
export const filesOf = (image: DiskImage): ReadonlyMap<string, Uint8Array> => {
  const found = new Map<string, Uint8Array>()
  const walk = (folder: NodeId, path: string) => {
    const content = image.folders.get(folder)
    if (content === undefined) return
    for (const [name, node] of withChanges(content.durable, content.changes)) {
      const file = image.files.get(node)
      if (file === undefined) walk(node, `${path}/${name}`)
      else found.set(`${path}/${name}`, file.cached)
    }
  }
  walk(rootId, "")
  return found
}

/** A text that is the same for two images with the same directories, names and bytes. */
export const fingerprint = (
  image: DiskImage,
  by: {
    readonly digest: (bytes: Uint8Array) => string
    /** What a name stands for where it does not matter itself. */
    readonly nameOf: (name: string) => string
  }
): string => {
  const describe = (node: NodeId): string => {
    const file = image.files.get(node)
    if (file !== undefined) return by.digest(file.cached)
    const content = image.folders.get(node) ?? { durable: new Map<string, NodeId>(), changes: [] }
    const names = [...withChanges(content.durable, content.changes)]
    return `{${names
      .map(([name, id]) => `${by.nameOf(name)}:${describe(id)}`)
      .toSorted()
      .join()}}`
  }
  return describe(rootId)
}
