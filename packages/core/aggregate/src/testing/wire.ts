/**
 * A second encoder, written from the three proto messages alone and sharing nothing with the
 * product: it can write what no sound encoder writes.
 */
import type { Md5 } from "../platform.ts"

/** Bytes of a text. */
export const text = (value: string): Uint8Array => new TextEncoder().encode(value)

/** Joins pieces of bytes and single bytes. */
export const join = (...pieces: ReadonlyArray<Uint8Array | number>): Uint8Array => {
  return Uint8Array.from(
    pieces.flatMap((piece) => (typeof piece === "number" ? piece : [...piece]))
  )
}

/** A base 128 varint. */
export const varint = (value: number | bigint): Uint8Array => {
  const digits: Array<number> = []
  let rest = BigInt(value)
  do {
    digits.push(Number(rest & 127n) + (rest > 127n ? 128 : 0))
    rest >>= 7n
  } while (rest > 0n)
  return Uint8Array.from(digits)
}

/** An integer field. */
export const integer = (number: number, value: number | bigint): Uint8Array =>
  join(varint(number * 8), varint(value))

/** A field of bytes. */
export const bytes = (number: number, value: Uint8Array | string): Uint8Array => {
  const content = typeof value === "string" ? text(value) : value
  return join(varint(number * 8 + 2), varint(content.length), content)
}

/** A user record by its indexes. */
export const record = (fields: {
  readonly key?: number | bigint
  readonly hashKey?: number | bigint
  readonly data?: Uint8Array | string
  readonly tags?: ReadonlyArray<{ readonly key: string; readonly value?: string }>
}): Uint8Array => {
  const { data, hashKey, key, tags = [] } = fields
  const none = new Uint8Array(0)
  const tagFields = tags.map((tag) =>
    bytes(4, join(bytes(1, tag.key), tag.value === undefined ? none : bytes(2, tag.value)))
  )
  const content = join(
    key === undefined ? none : integer(1, key),
    hashKey === undefined ? none : integer(2, hashKey),
    data === undefined ? none : bytes(3, data),
    ...tagFields
  )
  return bytes(3, content)
}

/** Makes the function that puts an envelope around a message. */
export const sealing =
  (md5: Md5) =>
  (message: Uint8Array, first = 0xf3): Uint8Array =>
    join(first, 0x89, 0x9a, 0xc2, message, md5(message))

/** An aggregate of two keys, a hash key and three records, one of them empty and one with tags. */
export const sample = join(
  bytes(1, "orders"),
  bytes(1, "clicks"),
  bytes(2, "170141183460469231731687303715884105728"),
  record({ key: 0, hashKey: 0, data: "first" }),
  record({ key: 1, data: "" }),
  record({ key: 0, data: "third", tags: [{ key: "colour", value: "red" }, { key: "bare" }] })
)
