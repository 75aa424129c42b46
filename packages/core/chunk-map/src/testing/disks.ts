/** Chunk servers for tests: what is on their disks, and how they carry out commands. */
import { digestAdd, emptyDigest, type Digest } from "../digest.ts"
import type { ChunkCopy, ChunkVersion, DeviceId, HostId } from "../identity.ts"
import { writeCommandId } from "../command-id.ts"
import type { ChunkCommand, CommandOutcome, CopyChange } from "../heartbeat.ts"

/** The name of a copy on a disk. */
export const nameOf = ({ fileId, chunkId, version }: ChunkVersion): string =>
  `${fileId}/${chunkId}@${version}`

/** One disk of a chunk server. */
export interface Disk {
  readonly deviceId: DeviceId
  epoch: number
  capacity: number
  readonly copies: Map<string, ChunkCopy>
}

/** A chunk server process; `alive` is false while it is stopped. */
export interface Server {
  readonly hostId: HostId
  incarnation: number
  sequence: number
  alive: boolean
  url: string
  rack: string
  readonly disks: Array<Disk>
  outcomes: Array<CommandOutcome>
  changes: Array<CopyChange>
  /** Commands that were received and are held back by the test. */
  held: Array<ChunkCommand>
  holdCommands: boolean
}

/** The digest of what is on a disk. */
export const digestOf = (disk: Disk): Digest => {
  let digest = emptyDigest
  for (const { fileId, chunkId, version } of disk.copies.values()) {
    digest = digestAdd(digest, fileId, chunkId, version)
  }
  return digest
}

/** The bytes that the copies on a disk take. */
export const usedBytes = (disk: Disk): number => {
  let used = 0
  for (const copy of disk.copies.values()) used += copy.length
  return used
}

/**
 * Carries out a command on the server that it was told, and keeps the outcome for its heartbeat.
 */
export const carryOut = (
  server: Server,
  command: ChunkCommand,
  deviceName: (index: number) => string,
  readFrom: (index: number) => Disk | undefined
): void => {
  const disk = server.disks.find((one) => one.deviceId === deviceName(command.device))
  if (disk === undefined) return
  const { fileId, chunkId, version, commandId } = command
  const copy = { fileId, chunkId, version }
  const answer = (kind: "copy" | "delete" | "verify", outcome: CommandOutcome["outcome"]) => {
    const id = writeCommandId({ kind, commandId, copy })
    const { deviceId, epoch } = disk
    server.outcomes.push({ commandId: id, deviceId, epoch, outcome })
  }
  switch (command._tag) {
    case "Delete":
      disk.copies.delete(nameOf(copy))
      answer("delete", { _tag: "Done", chunk: null })
      return
    case "Verify": {
      const intact = disk.copies.get(nameOf(copy))
      answer("verify", intact === undefined ? { _tag: "Corrupt" } : { _tag: "Done", chunk: intact })
      return
    }
    case "Copy": {
      const source = readFrom(command.source)?.copies.get(nameOf(copy))
      if (source === undefined) answer("copy", { _tag: "Failed" })
      else {
        disk.copies.set(nameOf(copy), { ...source })
        answer("copy", { _tag: "Done", chunk: { ...source } })
      }
    }
  }
}
