/** The status messages by which a server ends or keeps alive a request for messages. */

/** What a status means for the request that it came for. */
export type PullStatus =
  | { readonly kind: "heartbeat" }
  /** The request is over: it expired, or brought what it could. */
  | { readonly kind: "request-over" }
  /** The next message is larger than the request allowed. */
  | { readonly kind: "next-is-large" }
  /** The consumer is gone or unfit; `text` says how. */
  | { readonly kind: "consumer-lost"; readonly text: string }

const decoder = new TextDecoder()

/** Reads a status from the first line of a header block. */
export const readStatus = (block: Uint8Array): PullStatus => {
  const text = decoder.decode(block)
  const line = text.slice(0, text.indexOf("\r\n") + 1 || text.length).trim()
  const match = /^NATS\/1\.0\s+(\d{3})\s*(.*)$/.exec(line)
  const code = match?.[1] ?? ""
  const description = (match?.[2] ?? line).toLowerCase()
  if (code === "100") return { kind: "heartbeat" }
  if (code === "404" || code === "408") return { kind: "request-over" }
  if (code === "409") {
    if (description.includes("exceeds maxbytes")) return { kind: "next-is-large" }
    if (description.includes("batch completed")) return { kind: "request-over" }
  }
  return { kind: "consumer-lost", text: `${code} ${description}`.trim() }
}
