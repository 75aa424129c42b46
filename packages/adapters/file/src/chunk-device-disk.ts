/**
 * The calls a chunk device or a journal makes of its file system, as one small interface: the seam
 * at which tests cut the power, fill the disk and run out of file descriptors.
 */
import { constants } from "node:fs"
import {
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  statfs,
  unlink
} from "node:fs/promises"

/** One open file. */
export interface DiskFile {
  /** Writes all of `bytes` at `position`. */
  readonly write: (bytes: Uint8Array, position: number) => Promise<void>
  /** Reads into `target` from `position`; answers the bytes read, fewer only at the file's end. */
  readonly read: (target: Uint8Array, position: number) => Promise<number>
  readonly size: () => Promise<number>
  /** Makes the bytes durable. */
  readonly syncData: () => Promise<void>
  /** Makes the bytes and the file's own facts durable. */
  readonly sync: () => Promise<void>
  /** Cuts what stands behind `length`. */
  readonly truncate: (length: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** The file system under a device. */
export interface Disk {
  /** Creates a file that must not exist, for writing. */
  readonly create: (path: string) => Promise<DiskFile>
  /** Opens a file for reading. A symbolic link is refused. */
  readonly open: (path: string) => Promise<DiskFile>
  /** Opens a file that exists for reading and writing. A symbolic link is refused. */
  readonly openToWrite: (path: string) => Promise<DiskFile>
  readonly rename: (from: string, to: string) => Promise<void>
  /** Gives a file a second name; fails with `EEXIST` when that name is taken. */
  readonly link: (from: string, to: string) => Promise<void>
  readonly unlink: (path: string) => Promise<void>
  /** Makes one directory; its parent must exist. */
  readonly makeDirectory: (path: string) => Promise<void>
  readonly readFile: (path: string) => Promise<Uint8Array>
  /** Names inside a directory. */
  readonly names: (path: string) => Promise<ReadonlyArray<string>>
  /** A file's size, or a directory. */
  readonly stat: (path: string) => Promise<{ readonly size: number; readonly isFile: boolean }>
  /** Makes the names inside a directory durable. */
  readonly syncDirectory: (path: string) => Promise<void>
  readonly space: (path: string) => Promise<{ readonly total: number; readonly free: number }>
}

/** The largest piece that one system call carries. */
const writeBytesMax = 8 * 1024 * 1024

const openFile = async (path: string, flags: number): Promise<DiskFile> => {
  const handle = await open(path, flags | constants.O_NOFOLLOW, 0o640)
  return {
    write: async (bytes, position) => {
      let done = 0
      while (done < bytes.length) {
        const length = Math.min(bytes.length - done, writeBytesMax)
        const { bytesWritten } = await handle.write(bytes, done, length, position + done)
        done += bytesWritten
      }
    },
    read: async (target, position) => {
      let done = 0
      while (done < target.length) {
        const { bytesRead } = await handle.read(target, done, target.length - done, position + done)
        if (bytesRead === 0) break
        done += bytesRead
      }
      return done
    },
    size: async () => (await handle.stat()).size,
    syncData: () => handle.datasync(),
    sync: () => handle.sync(),
    truncate: (length) => handle.truncate(length),
    close: () => handle.close()
  }
}

const syncDirectory = async (path: string): Promise<void> => {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The real file system. */
export const nodeDisk: Disk = {
  create: (path) => openFile(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL),
  open: (path) => openFile(path, constants.O_RDONLY),
  openToWrite: (path) => openFile(path, constants.O_RDWR),
  rename,
  link,
  unlink,
  makeDirectory: (path) => mkdir(path),
  readFile: (path) => readFile(path),
  names: (path) => readdir(path),
  stat: async (path) => {
    const found = await lstat(path)
    return { size: found.size, isFile: found.isFile() }
  },
  syncDirectory,
  space: async (path) => {
    const found = await statfs(path)
    return { total: found.blocks * found.bsize, free: found.bavail * found.bsize }
  }
}
