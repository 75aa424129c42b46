/** A stored file as the commands print it: the digest in hexadecimal, as `sha256sum` has it. */
import type { FileEntry } from "@holdfast/catalogue"
import { isoTime } from "../records/record-json.ts"

/** A stored file for `--json`. */
export const fileView = (file: FileEntry) => ({
  name: file.name,
  bytes: file.bytes,
  sha256: Buffer.from(file.digest).toString("hex"),
  chunks: file.chunks.length,
  goal: file.goal,
  stored: isoTime(file.created)
})
