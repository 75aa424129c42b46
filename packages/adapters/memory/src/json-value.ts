/** A value of a schema as the bytes of its JSON, for stores that hold bytes. */
import { Option, Schema } from "effect"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Encodes to bytes, and decodes to none when the bytes are not such a value. */
export const jsonValue = <S extends Schema.Codec<unknown, unknown>>(schema: S) => {
  const json = Schema.fromJsonString(Schema.toCodecJson(schema))
  const encode = Schema.encodeSync(json)
  const decode = Schema.decodeUnknownOption(json)
  return {
    encode: (value: S["Type"]): Uint8Array => encoder.encode(encode(value)),
    decode: (bytes: Uint8Array): Option.Option<S["Type"]> => decode(decoder.decode(bytes))
  }
}
