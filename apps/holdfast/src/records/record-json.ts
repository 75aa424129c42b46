/**
 * Archived records as JSON lines.
 *
 *     {"shard":"orders","position":"17","time":"2026-01-01T00:00:00.000000001Z",
 *      "subject":"orders.eu","headers":[["Kind","new"]],"data":"..."}
 *
 * Text that is not UTF-8 stands in base64 under `subjectBase64`, `headersBase64` or `dataBase64`,
 * so that nothing is changed on the way. `part` stands only where a message had several.
 */
import type { ArchivedRecord } from "@holdfast/client"

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const nanosPerMilli = 1_000_000n
const nanosPerSecond = 1_000_000_000n

/** The text of bytes, or undefined when they are not UTF-8. */
const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return strict.decode(bytes)
  } catch (cause) {
    if (cause instanceof TypeError) return undefined
    throw cause
  }
}

const base64Of = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64")

/** Bytes as text under a name, or in base64 under that name with its ending where they are none. */
export const textOrBase64 = (name: string, bytes: Uint8Array): Record<string, unknown> => {
  const text = textOf(bytes)
  return text === undefined ? { [`${name}Base64`]: base64Of(bytes) } : { [name]: text }
}

const headersOf = (headers: ArchivedRecord["record"]["headers"]): Record<string, unknown> => {
  if (headers.length === 0) return {}
  const texts = headers.map(([name, value]) => [textOf(name), textOf(value)])
  const isText = texts.every(([name, value]) => name !== undefined && value !== undefined)
  return isText
    ? { headers: texts }
    : { headersBase64: headers.map(([name, value]) => [base64Of(name), base64Of(value)]) }
}

/** A time in nanoseconds since 1970 as ISO 8601 with nine digits of fraction. */
export const isoTime = (nanos: bigint): string => {
  const fraction = ((nanos % nanosPerSecond) + nanosPerSecond) % nanosPerSecond
  const seconds = new Date(Number((nanos - fraction) / nanosPerMilli)).toISOString().slice(0, 19)
  return `${seconds}.${fraction.toString().padStart(9, "0")}Z`
}

/** A record as one JSON line, without the line's end. */
export const recordJson = ({ record, shard }: ArchivedRecord): string =>
  JSON.stringify({
    shard,
    position: record.position.toString(),
    ...(record.part === 0 ? {} : { part: record.part }),
    time: isoTime(record.timestamp),
    ...textOrBase64("subject", record.subject),
    ...headersOf(record.headers),
    ...textOrBase64("data", record.data)
  })
