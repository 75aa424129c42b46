/** What a message weighs and which headers can travel, counted as a NATS client would. */
import type { Headers } from "@holdfast/messaging"

const encoder = new TextEncoder()
const headerNamePattern = /^[!-9;-~]+$/
const headerValuePattern = /^[^\r\n]*$/
const headerPreambleBytes = "NATS/1.0\r\n\r\n".length
const headerLineBytes = ": \r\n".length

/** The bytes of a payload with its headers, which `maxPayloadBytes` bounds. */
export const payloadBytes = (headers: Headers, data: Uint8Array): number => {
  const entries = Object.entries(headers)
  if (entries.length === 0) return data.length
  let bytes = headerPreambleBytes + data.length
  for (const [name, value] of entries) {
    bytes += headerLineBytes + encoder.encode(name).length + encoder.encode(value).length
  }
  return bytes
}

/** The first header that cannot travel, or undefined. */
export const firstInvalidHeader = (headers: Headers): string | undefined =>
  Object.entries(headers).find(
    ([name, value]) => !headerNamePattern.test(name) || !headerValuePattern.test(value)
  )?.[0]
