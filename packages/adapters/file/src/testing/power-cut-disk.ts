/**
 * A disk in memory that knows at each moment what a power cut could take from it.
 *
 *     device ── calls ──▶ disk ── after each call ──▶ onCall(what was called, image)
 *
 * A sync covers what was there when it began, and only once it has ended: whoever shares a sync
 * that began too early, or answers before its end, is found out. It answers as the real disk does
 * (a test compares the two). A process that dies without a power cut leaves the image as it is.
 */
import { basename, dirname, resolve } from "node:path"
import { setImmediate } from "node:timers/promises"
import type { Disk, DiskFile } from "../chunk-device-disk.ts"
import {
  type DiskImage,
  type FileImage,
  type FolderImage,
  type NameChange,
  type NodeId,
  rootId,
  withChanges
} from "./power-cut-image.ts"

/** A disk and what it holds. */
export interface PowerCutDisk {
  readonly disk: Disk
  readonly image: () => DiskImage
  /** Makes all of it durable, as time does. */
  readonly flush: () => void
}

/** Hears of each call that was made, when it has happened. */
export type CallObserver = (call: string, image: DiskImage) => void

const refuse = (code: string, path: string): never => {
  throw Object.assign(new Error(`${code}: ${path}`), { code })
}

/** The nodes of one disk, by number and by path. */
const nodeTable = (start: DiskImage) => {
  const files = new Map(start.files)
  const folders = new Map(start.folders)
  let lastId = Math.max(rootId, ...files.keys(), ...folders.keys())
  let image: DiskImage | undefined = start
  const setFile = (id: NodeId, file: FileImage) => {
    files.set(id, file)
    image = undefined
  }
  const setFolder = (id: NodeId, folder: FolderImage) => {
    folders.set(id, folder)
    image = undefined
  }
  const folderOf = (id: NodeId, path: string): FolderImage =>
    folders.get(id) ?? refuse("ENOTDIR", path)
  const namesIn = (id: NodeId, path: string) => {
    const { durable, changes } = folderOf(id, path)
    return withChanges(durable, changes)
  }
  const find = (path: string): NodeId | undefined =>
    resolve(path)
      .split("/")
      .filter((part) => part !== "")
      .reduce<NodeId | undefined>(
        (id, part) => (id === undefined ? undefined : namesIn(id, path).get(part)),
        rootId
      )
  const get = (path: string): NodeId => find(path) ?? refuse("ENOENT", path)
  return {
    find,
    get,
    namesIn,
    folderOf,
    setFile,
    setFolder,
    nextId: () => (lastId += 1),
    /** Gives the last part of a path to a node, or takes it away. */
    setName: (path: string, node: NodeId | undefined) => {
      const parent = get(dirname(resolve(path)))
      const { durable, changes } = folderOf(parent, path)
      setFolder(parent, { durable, changes: [...changes, { name: basename(path), node }] })
    },
    fileOf: (id: NodeId, path: string): FileImage => files.get(id) ?? refuse("EISDIR", path),
    isFolder: (id: NodeId): boolean => folders.has(id),
    /** The same value until something changes. */
    image: (): DiskImage => (image ??= { files: new Map(files), folders: new Map(folders) }),
    flush: () => {
      for (const [id, { cached }] of files) setFile(id, { durable: cached, cached })
      for (const [id, { durable, changes }] of folders) {
        setFolder(id, { durable: withChanges(durable, changes), changes: [] })
      }
    }
  }
}

type NodeTable = ReturnType<typeof nodeTable>
type Step = <A>(call: string, act: () => A) => Promise<A>

const overwritten = (bytes: Uint8Array, piece: Uint8Array, position: number): Uint8Array => {
  const whole = new Uint8Array(Math.max(bytes.length, position + piece.length))
  whole.set(bytes)
  whole.set(piece, position)
  return whole
}

const openFile = (nodes: NodeTable, step: Step, id: NodeId, path: string): DiskFile => {
  const content = () => nodes.fileOf(id, path)
  const sync = async (call: string) => {
    const { cached } = await step(`begin ${call} ${path}`, content)
    await setImmediate()
    await step(`${call} ${path}`, () => {
      nodes.setFile(id, { ...content(), durable: cached })
    })
  }
  return {
    write: (bytes, position) =>
      step(`write ${bytes.length} bytes at ${position} of ${path}`, () => {
        const { durable, cached } = content()
        nodes.setFile(id, { durable, cached: overwritten(cached, bytes, position) })
      }),
    read: (target, position) =>
      step(`read ${path}`, () => {
        const found = content().cached.subarray(position, position + target.length)
        target.set(found)
        return found.length
      }),
    size: () => step(`size ${path}`, () => content().cached.length),
    syncData: () => sync("sync the data of"),
    sync: () => sync("sync"),
    truncate: (length) =>
      step(`cut ${path} to ${length} bytes`, () => {
        const { durable, cached } = content()
        nodes.setFile(id, { durable, cached: cached.slice(0, length) })
      }),
    close: () => step(`close ${path}`, () => undefined)
  }
}

const syncDirectory = async (nodes: NodeTable, step: Step, path: string) => {
  const begun = await step(`begin sync of directory ${path}`, () => {
    const id = nodes.get(path)
    return { id, covered: new Set<NameChange>(nodes.folderOf(id, path).changes) }
  })
  await setImmediate()
  await step(`sync directory ${path}`, () => {
    const { durable, changes } = nodes.folderOf(begun.id, path)
    nodes.setFolder(begun.id, {
      durable: withChanges(
        durable,
        changes.filter((change) => begun.covered.has(change))
      ),
      changes: changes.filter((change) => !begun.covered.has(change))
    })
  })
}

/** The calls that change names. */
const naming = (nodes: NodeTable, step: Step) => {
  const refuseTaken = (path: string) => {
    if (nodes.find(path) !== undefined) refuse("EEXIST", path)
    nodes.folderOf(nodes.get(dirname(resolve(path))), path)
  }
  return {
    create: (path: string) =>
      step(`create ${path}`, () => {
        refuseTaken(path)
        const id = nodes.nextId()
        const empty = new Uint8Array()
        nodes.setFile(id, { durable: empty, cached: empty })
        nodes.setName(path, id)
        return openFile(nodes, step, id, path)
      }),
    rename: (from: string, to: string) =>
      step(`rename ${from} to ${to}`, () => {
        const id = nodes.get(from)
        if (nodes.find(to) === id) return
        nodes.setName(to, id)
        nodes.setName(from, undefined)
      }),
    link: (from: string, to: string) =>
      step(`link ${from} to ${to}`, () => {
        const id = nodes.get(from)
        refuseTaken(to)
        nodes.setName(to, id)
      }),
    unlink: (path: string) =>
      step(`unlink ${path}`, () => {
        nodes.fileOf(nodes.get(path), path)
        nodes.setName(path, undefined)
      }),
    makeDirectory: (path: string) =>
      step(`make directory ${path}`, () => {
        refuseTaken(path)
        const id = nodes.nextId()
        nodes.setFolder(id, { durable: new Map(), changes: [] })
        nodes.setName(path, id)
      })
  }
}

/** Makes a disk that holds `start`. */
export const powerCutDisk = (
  start: DiskImage,
  onCall: CallObserver = () => undefined
): PowerCutDisk => {
  const nodes = nodeTable(start)
  const step: Step = async (call, act) => {
    await Promise.resolve()
    const result = act()
    onCall(call, nodes.image())
    return result
  }
  const disk: Disk = {
    ...naming(nodes, step),
    open: (path) => step(`open ${path}`, () => openFile(nodes, step, nodes.get(path), path)),
    openToWrite: (path) => step(`open ${path}`, () => openFile(nodes, step, nodes.get(path), path)),
    readFile: (path) =>
      step(`read all of ${path}`, () => nodes.fileOf(nodes.get(path), path).cached),
    names: (path) => step(`list ${path}`, () => [...nodes.namesIn(nodes.get(path), path).keys()]),
    stat: (path) =>
      step(`stat ${path}`, () => {
        const id = nodes.get(path)
        return nodes.isFolder(id)
          ? { size: 0, isFile: false }
          : { size: nodes.fileOf(id, path).cached.length, isFile: true }
      }),
    syncDirectory: (path) => syncDirectory(nodes, step, path),
    space: (path) => step(`space of ${path}`, () => ({ total: 2 ** 40, free: 2 ** 39 }))
  }
  return { disk, image: nodes.image, flush: nodes.flush }
}
