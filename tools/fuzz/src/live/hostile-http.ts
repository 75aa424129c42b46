/** Every HTTP route, with requests that no client writes, over bare sockets. */
import { connect } from "node:net"
import { encodeFrame } from "@holdfast/wire"
import { mutateBytes } from "../mutate-bytes.ts"
import type { Random } from "../random.ts"
import type { LiveCluster } from "./up-process.ts"

/** A server's port and sound requests to each of its routes. */
interface Server {
  readonly port: number
  readonly samples: ReadonlyArray<Uint8Array>
}

const request = (lines: ReadonlyArray<string>, body: Uint8Array | string = ""): Uint8Array =>
  Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), Buffer.from(body)])

const loopbackSamples = (token: string): ReadonlyArray<Uint8Array> => {
  const envelope = { subject: "holdfast.holdfast.metadata.status", deadlineMs: 500 }
  const body = encodeFrame({ json: JSON.stringify(envelope), attachment: Buffer.from("{}") })
  const head = ["Host: a", `Authorization: Bearer ${token}`]
  const sized = [...head, `Content-Length: ${body.length}`]
  return [
    request(["POST /v1/request HTTP/1.1", ...sized], body),
    request(["POST /v1/publish HTTP/1.1", ...sized], body),
    request(
      ["POST /v1/request HTTP/1.1", ...head, "Transfer-Encoding: chunked"],
      "4\r\n{}{}\r\n0\r\n\r\n"
    ),
    request(["GET /v1/state HTTP/1.1", ...head])
  ]
}

const chunkSamples = (device: string): ReadonlyArray<Uint8Array> => {
  const path = `/v1/devices/${device}/chunks/65537/0/1`
  const head = ["Host: a", "Authorization: Bearer e30.c2ln", "Holdfast-Deadline-Ms: 500"]
  return [
    request([`GET ${path} HTTP/1.1`, ...head, "Range: bytes=0-99"]),
    request([`GET ${path}?start=0&end=10 HTTP/1.1`, ...head]),
    request([`HEAD ${path} HTTP/1.1`, ...head]),
    request(
      [`PUT ${path} HTTP/1.1`, ...head, "Content-Length: 10", "Expect: 100-continue"],
      "0123456789"
    ),
    request([`PUT ${path} HTTP/1.1`, ...head, "Content-Length: 4294967295"], "0123456789"),
    request([`DELETE ${path} HTTP/1.1`, ...head])
  ]
}

const observationSamples = ["/metrics", "/health", "/ready"].map((path) =>
  request([`GET ${path} HTTP/1.1`, "Host: a"])
)

const askChunkServer = async (live: LiveCluster): Promise<number> => {
  const subject = `holdfast.${live.cluster}.chunk-server.host-1.status`
  const json = JSON.stringify({ subject, deadlineMs: 5_000 })
  const response = await fetch(`http://127.0.0.1:${live.loopback.port}/v1/request`, {
    method: "POST",
    headers: { authorization: `Bearer ${live.loopback.token}` },
    body: Buffer.from(encodeFrame({ json, attachment: Buffer.from("{}") }))
  })
  const url = /"url":"http:\/\/[^"]*?:(\d+)"/.exec(await response.text())?.[1]
  if (url === undefined) throw new Error("the chunk server does not say where it listens")
  return Number(url)
}

/** All servers of a cluster. */
export const serversOf = async (live: LiveCluster): Promise<ReadonlyArray<Server>> => [
  { port: live.loopback.port, samples: loopbackSamples(live.loopback.token) },
  { port: await askChunkServer(live), samples: chunkSamples("host-1-disk") },
  { port: live.observation.port, samples: observationSamples }
]

/** How long a server is waited for, in milliseconds; it may rightly wait for the rest. */
const waitMs = 300

/** Sends one hostile request; whether and how it is answered is the server's business. */
export const sendHostileRequest = (
  servers: ReadonlyArray<Server>,
  random: Random
): Promise<void> => {
  const { port, samples } = random.pick(servers)
  const bytes = mutateBytes(samples, random)
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    const end = (): void => {
      socket.destroy()
      resolve()
    }
    socket.setTimeout(waitMs, end)
    socket.once("data", end)
    socket.once("close", end)
    // The server may rightly hang up while it is being written to.
    socket.once("error", end)
    socket.write(bytes)
  })
}
