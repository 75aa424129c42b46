/**
 * The body of a message: JSON, and behind it bytes where an operation carries them.
 *
 *     plain     { ... }                                          begins with '{', typed by hand
 *     framed    00 | length of the JSON, 4 bytes big-endian | JSON | attachment
 */
import { Option } from "effect"

/** A decoded body; the attachment is empty when there was none. */
export interface Frame {
  readonly json: string
  readonly attachment: Uint8Array
}

const framedMark = 0
const headerBytes = 5
const noBytes = new Uint8Array(0)
const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true })

/** Encodes a body; without an attachment it is the bare JSON. */
export const encodeFrame = (options: {
  readonly json: string
  readonly attachment?: Uint8Array
}): Uint8Array => {
  const json = encoder.encode(options.json)
  const attachment = options.attachment
  if (attachment === undefined || attachment.length === 0) return json
  const body = new Uint8Array(headerBytes + json.length + attachment.length)
  body[0] = framedMark
  new DataView(body.buffer).setUint32(1, json.length)
  body.set(json, headerBytes)
  body.set(attachment, headerBytes + json.length)
  return body
}

/** Decodes a body; none when a length points outside it or the text is not UTF-8. */
export const decodeFrame = (body: Uint8Array): Option.Option<Frame> => {
  if (body[0] !== framedMark) return decodeText({ bytes: body, attachment: noBytes })
  if (body.length < headerBytes) return Option.none()
  const length = new DataView(body.buffer, body.byteOffset, body.byteLength).getUint32(1)
  if (length > body.length - headerBytes) return Option.none()
  return decodeText({
    bytes: body.subarray(headerBytes, headerBytes + length),
    attachment: body.subarray(headerBytes + length)
  })
}

const decodeText = (part: {
  readonly bytes: Uint8Array
  readonly attachment: Uint8Array
}): Option.Option<Frame> => {
  try {
    return Option.some({ json: decoder.decode(part.bytes), attachment: part.attachment })
  } catch (cause) {
    if (cause instanceof TypeError) return Option.none()
    throw cause
  }
}
