/**
 * Cuts the elements out of one JSON array, without holding more than one of them.
 *
 *     { "type": "FeatureCollection", "features": [ {...}, {...} ], "bbox": [...] }
 *                                                  ^ piece 1 ^ piece 2
 *
 * The array is the whole document, or stands at a path of names such as `features`. What is passed
 * over on the way is followed by its brackets and strings alone; each element is checked as JSON.
 *
 *     Open ──'{'──▶ Key ──'"'──▶ InKey ──▶ Colon ──▶ Skip ──',' ──▶ Key        on the way
 *     Open ──'['──▶ Before ──▶ Element ──','──▶ Before ──']'──▶ Rest ──▶ Done   in the array
 */
import { BYTE_ORDER_MARK, joinParts, jsonFault } from "./text-splitter.ts"
import type { SplitterOptions, TextFault, TextPiece, TextSplitter } from "./text-splitter.ts"

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const LINE_FEED = 0x0a

/** Bytes of the longest name on the way. */
const NAME_BYTES_MAX = 65_536

const tableOf = (bytes: ReadonlyArray<number>): Uint8Array => {
  const table = new Uint8Array(256)
  for (const byte of bytes) table[byte] = 1
  return table
}
const MATTERS_IN_STRING = tableOf([QUOTE, BACKSLASH])
const MATTERS_IN_BRACKETS = tableOf([QUOTE, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT])

type Phase = "Open" | "Key" | "InKey" | "Colon" | "Skip" | "Before" | "Element" | "Rest" | "Done"

const trimEnd = (bytes: Uint8Array): Uint8Array => {
  let end = bytes.length
  while (end > 0 && isSpace(bytes[end - 1] ?? 0)) end -= 1
  return bytes.subarray(0, end)
}

const isSpace = (byte: number): boolean =>
  byte === 0x20 || byte === LINE_FEED || byte === 0x0d || byte === 0x09

/** A splitter of the array at a path of names; the empty path is the document itself. */
export const makeJsonArraySplitter = (
  options: SplitterOptions & { readonly path: ReadonlyArray<string> }
): TextSplitter => new JsonArraySplitter(options)

class JsonArraySplitter implements TextSplitter {
  readonly options: SplitterOptions & { readonly path: ReadonlyArray<string> }
  phase: Phase = "Open"
  line = 1
  /** Names of the path that were found. */
  matched = 0
  /** The name just read is the next of the path. */
  isFound = false
  /** Brackets that are open inside what is passed over or collected. */
  depth = 0
  isInString = false
  isEscaped = false
  marks = 0
  count = 0n
  mayClose = true
  pieceLine = 1
  parts: Array<Uint8Array> = []
  length = 0

  constructor(options: SplitterOptions & { readonly path: ReadonlyArray<string> }) {
    this.options = options
  }

  push(chunk: Uint8Array, pieces: Array<TextPiece>): TextFault | undefined {
    let pieceFrom = 0
    for (let index = 0; index < chunk.length; index++) {
      if (this.isInString ? !this.isEscaped : this.depth > 0) index = this.skip(chunk, index)
      if (index === chunk.length) break
      const byte = chunk[index] ?? 0
      if (byte === LINE_FEED) this.line += 1
      const wasCollecting = this.isCollecting()
      const fault = this.step(byte)
      if (fault !== undefined) return fault
      const isCollecting = this.isCollecting()
      if (!wasCollecting && isCollecting) pieceFrom = index
      if (wasCollecting && !isCollecting) {
        const ended = this.finish(chunk.subarray(pieceFrom, index), pieces)
        if (ended !== undefined) return ended
      }
    }
    if (!this.isCollecting()) return undefined
    return this.collect(chunk.subarray(pieceFrom))
  }

  end(): TextFault | undefined {
    if (this.phase === "Done") return undefined
    const where = this.phase === "Open" && this.matched === 0 ? "before" : "inside"
    return this.fault(`the text ends ${where} the JSON value; is the file complete?`)
  }

  /** The place of the next byte that matters inside a string or a bracket: most do not. */
  skip(chunk: Uint8Array, from: number): number {
    const matters = this.isInString ? MATTERS_IN_STRING : MATTERS_IN_BRACKETS
    let index = from
    for (; index < chunk.length; index++) {
      const byte = chunk[index] ?? 0
      if (matters[byte] === 1) break
      if (byte === LINE_FEED) this.line += 1
    }
    return index
  }

  isCollecting(): boolean {
    return this.phase === "Element" || this.phase === "InKey"
  }

  fault(message: string, line = this.line): TextFault {
    return { code: "malformed", line, message }
  }

  place(): string {
    const { path } = this.options
    return path.length === 0 ? "the document" : `"${path.slice(0, this.matched).join(".")}"`
  }

  collect(part: Uint8Array): TextFault | undefined {
    this.parts.push(part)
    this.length += part.length
    const limit = this.phase === "InKey" ? NAME_BYTES_MAX : this.options.pieceBytesMax
    if (this.length <= limit) return undefined
    const message = `element ${this.count + 1n} is over ${limit} bytes; raise the limit of a record`
    return { code: "too-large", line: this.pieceLine, message }
  }

  step(byte: number): TextFault | undefined {
    switch (this.phase) {
      case "Open":
        return this.stepOpen(byte)
      case "Key":
        return this.stepKey(byte)
      case "InKey":
        return this.stepInKey(byte)
      case "Colon":
        if (isSpace(byte)) return undefined
        if (byte !== COLON) return this.fault("a name must be followed by a colon")
        this.phase = this.isFound ? "Open" : "Skip"
        this.isFound = false
        return undefined
      case "Skip":
      case "Element":
      case "Rest":
        return this.stepValue(byte)
      case "Before":
        return this.stepBefore(byte)
      case "Done":
        return isSpace(byte) ? undefined : this.fault("something follows the end of the document")
    }
  }

  stepOpen(byte: number): TextFault | undefined {
    if (isSpace(byte)) return undefined
    if (this.line === 1 && this.matched === 0 && byte === BYTE_ORDER_MARK[this.marks]) {
      this.marks += 1
      return undefined
    }
    const isOnTheWay = this.matched < this.options.path.length
    if (byte !== (isOnTheWay ? OPEN_OBJECT : OPEN_ARRAY)) {
      return this.fault(`${this.place()} must be ${isOnTheWay ? "an object" : "an array"}`)
    }
    this.phase = isOnTheWay ? "Key" : "Before"
    this.mayClose = true
    return undefined
  }

  stepKey(byte: number): TextFault | undefined {
    if (isSpace(byte)) return undefined
    if (byte === CLOSE_OBJECT) {
      return this.fault(`${this.place()} has no "${this.options.path[this.matched] ?? ""}"`)
    }
    if (byte !== QUOTE) return this.fault("a name in quotes must stand here")
    this.phase = "InKey"
    this.pieceLine = this.line
    return undefined
  }

  stepInKey(byte: number): TextFault | undefined {
    if (this.isEscaped) this.isEscaped = false
    else if (byte === BACKSLASH) this.isEscaped = true
    else if (byte === QUOTE) this.phase = "Colon"
    return undefined
  }

  stepBefore(byte: number): TextFault | undefined {
    if (isSpace(byte)) return undefined
    if (byte === CLOSE_ARRAY && this.mayClose) return this.closeArray()
    if (byte === COMMA || byte === CLOSE_ARRAY) {
      return this.fault(`element ${this.count + 1n} is missing; a JSON value must stand here`)
    }
    this.phase = "Element"
    this.pieceLine = this.line
    return this.stepValue(byte)
  }

  /** Follows brackets and strings; finds the end of a value, or of the object it stands in. */
  stepValue(byte: number): TextFault | undefined {
    if (this.isInString) {
      if (this.isEscaped) this.isEscaped = false
      else if (byte === BACKSLASH) this.isEscaped = true
      else if (byte === QUOTE) this.isInString = false
      return undefined
    }
    if (byte === QUOTE) this.isInString = true
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.depth += 1
    else if (this.depth > 0 && (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY)) {
      this.depth -= 1
      if (this.phase === "Rest" && this.depth === 0) this.phase = "Done"
    } else if (this.depth === 0) return this.stepAfterValue(byte)
    return undefined
  }

  stepAfterValue(byte: number): TextFault | undefined {
    if (this.phase === "Skip") {
      if (byte === COMMA) this.phase = "Key"
      if (byte === CLOSE_OBJECT) return this.stepKey(byte)
      return undefined
    }
    if (byte === COMMA) {
      this.phase = "Before"
      this.mayClose = false
    } else if (byte === CLOSE_ARRAY) return this.closeArray()
    return undefined
  }

  closeArray(): undefined {
    this.depth = this.matched
    this.phase = this.depth === 0 ? "Done" : "Rest"
    return undefined
  }

  /** A name is complete with its opening quote, without the closing one. */
  finishName(bytes: Uint8Array): TextFault | undefined {
    const text = `${Buffer.from(bytes).toString("utf8")}"`
    if (jsonFault(Buffer.from(text)) !== undefined) return this.fault(`${text} is no name`)
    if (JSON.parse(text) === this.options.path[this.matched]) {
      this.matched += 1
      this.isFound = true
    }
    return undefined
  }

  /** A name or an element is complete with the bytes before the one that ended it. */
  finish(part: Uint8Array, pieces: Array<TextPiece>): TextFault | undefined {
    const { after } = this.options
    this.parts.push(part)
    const bytes = joinParts(this.parts)
    this.parts = []
    this.length = 0
    if (this.phase === "Colon") return this.finishName(bytes)
    this.count += 1n
    if (bytes.length > this.options.pieceBytesMax) return this.collect(bytes)
    if (this.count <= after) return undefined
    const fault = jsonFault(bytes)
    if (fault !== undefined) return this.fault(`element ${this.count}: ${fault}`, this.pieceLine)
    pieces.push({ position: this.count, bytes: trimEnd(bytes) })
    return undefined
  }
}
