/** Cuts bytes into lines, within a limit on the length of one. */

const lineEnd = 0x0a

/** What a piece of input brought: lines without their ends, or a line over the limit. */
export type Cut =
  | { readonly _tag: "Lines"; readonly lines: ReadonlyArray<string> }
  | { readonly _tag: "TooLong" }

/** Holds the beginning of a line until its end has come. */
export class LineSplitter {
  private readonly bytesMax: number
  private parts: Array<Buffer> = []
  private bytes = 0

  constructor(options: { readonly bytesMax: number }) {
    this.bytesMax = options.bytesMax
  }

  /** Takes a piece of input in. O(piece), and once more a line when it is whole. */
  push(piece: Buffer): Cut {
    const lines: Array<string> = []
    let from = 0
    for (;;) {
      const at = piece.indexOf(lineEnd, from)
      const part = piece.subarray(from, at < 0 ? piece.length : at)
      this.bytes += part.length
      if (this.bytes > this.bytesMax) return { _tag: "TooLong" }
      if (part.length > 0) this.parts.push(part)
      if (at < 0) return { _tag: "Lines", lines }
      const line = this.takeLine()
      // The daemon ends lines as its platform does, and may send blank ones.
      if (line.trim() !== "") lines.push(line)
      from = at + 1
    }
  }

  private takeLine(): string {
    const line = Buffer.concat(this.parts).toString("utf8")
    this.parts = []
    this.bytes = 0
    return line
  }
}
