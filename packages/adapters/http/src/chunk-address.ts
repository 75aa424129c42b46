/**
 * The address of a copy on a chunk server, and the limits of what may stand in it.
 *
 *     /v1/devices/<device>/chunks/<file id>/<chunk id>/<version>
 */
import { type ByteRange, ChunkName } from "@holdfast/storage"
import { identifierPattern } from "@holdfast/wire"
import { Option, Schema } from "effect"

/** A copy's address. */
export interface ChunkAddress {
  readonly deviceId: string
  readonly chunk: ChunkName
}

const addressPattern = /^\/v1\/devices\/([^/]{1,64})\/chunks\/(\d{1,16})\/(\d{1,10})\/(\d{1,16})$/

/** The path of an address. */
export const addressPath = ({ deviceId, chunk }: ChunkAddress): string =>
  `/v1/devices/${deviceId}/chunks/${chunk.fileId}/${chunk.chunkId}/${chunk.version}`

/** The address that a path stands for; none for any other path. */
export const parseAddress = (path: string): Option.Option<ChunkAddress> => {
  const [, deviceId = "", fileId, chunkId, version] = addressPattern.exec(path) ?? []
  if (!identifierPattern.test(deviceId)) return Option.none()
  const chunk = Schema.decodeUnknownOption(ChunkName)({
    fileId: Number(fileId),
    chunkId: Number(chunkId),
    version: Number(version)
  })
  return Option.map(chunk, (named) => ({ deviceId, chunk: named }))
}

const rangePattern = /^bytes=(\d{1,10})-(\d{1,10})?$/
const queryPattern = /^start=(\d{1,10})&end=(\d{1,10})$/

/** A range as a query, which unlike a `Range` header can say an empty one. */
export const rangeQuery = (range: ByteRange): string => `?start=${range.start}&end=${range.end}`

/**
 * The range that a request asks for: by query, or by a `Range` header with one range of bytes whose
 * end is given. `bad` for anything else.
 */
export const parseRange = (options: {
  readonly query: string
  readonly header: string | undefined
}): Option.Option<ByteRange> | "bad" => {
  if (options.query !== "") {
    const [, start, end] = queryPattern.exec(options.query) ?? []
    if (start === undefined || end === undefined) return "bad"
    return Option.some({ start: Number(start), end: Number(end) })
  }
  if (options.header === undefined) return Option.none()
  const [, first, last] = rangePattern.exec(options.header) ?? []
  if (first === undefined || last === undefined) return "bad"
  return Option.some({ start: Number(first), end: Number(last) + 1 })
}
