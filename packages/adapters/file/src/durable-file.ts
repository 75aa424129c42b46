/** Small files that are there with all their bytes or not at all, after a power cut too. */
import { dirname } from "node:path"
import { type Disk, nodeDisk } from "./chunk-device-disk.ts"

/** Removes a file that may not be there. */
export const removeIfThere = async (disk: Disk, path: string): Promise<void> => {
  try {
    await disk.unlink(path)
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ENOENT")) throw cause
  }
}

/** Writes a small file so that it is there with all its bytes or not at all. */
export const writeWhole = async (
  disk: Disk,
  paths: { readonly temporary: string; readonly path: string; readonly directory: string },
  bytes: Uint8Array
): Promise<void> => {
  const file = await disk.create(paths.temporary)
  try {
    await file.write(bytes, 0)
    await file.sync()
  } finally {
    await file.close()
  }
  await disk.rename(paths.temporary, paths.path)
  await disk.syncDirectory(paths.directory)
}

/**
 * Puts a small file in the place of another, durably; its folder must exist. The draft stands in
 * the same folder, under the name with `.new`; one that an earlier crash has left is removed.
 */
export const replaceFile = async (path: string, bytes: Uint8Array): Promise<void> => {
  const temporary = `${path}.new`
  await removeIfThere(nodeDisk, temporary)
  await writeWhole(nodeDisk, { temporary, path, directory: dirname(path) }, bytes)
}
