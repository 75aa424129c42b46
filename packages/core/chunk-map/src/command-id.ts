/**
 * Ids of commands as texts: `<kind>.<number>.<fileId>.<chunkId>.<version>`, so that an outcome says
 * by itself which copy it is about.
 */
import type { ChunkVersion } from "./identity.ts"

/** What a command does. */
export type CommandKind = "copy" | "delete" | "verify"

/** A command id, read. */
export interface CommandName {
  readonly kind: CommandKind
  readonly commandId: number
  readonly copy: ChunkVersion
}

const pattern = /^(copy|delete|verify)\.(\d{1,15})\.(\d{1,15})\.(\d{1,10})\.(\d{1,15})$/

/** Writes a command id. */
export const writeCommandId = ({ kind, commandId, copy }: CommandName): string =>
  `${kind}.${commandId}.${copy.fileId}.${copy.chunkId}.${copy.version}`

/** Reads a command id; undefined for any other text. */
export const readCommandId = (text: string): CommandName | undefined => {
  const parts = pattern.exec(text)
  if (parts === null) return undefined
  const kind = parts[1] === "copy" ? "copy" : parts[1] === "delete" ? "delete" : "verify"
  return {
    kind,
    commandId: Number(parts[2]),
    copy: { fileId: Number(parts[3]), chunkId: Number(parts[4]), version: Number(parts[5]) }
  }
}
