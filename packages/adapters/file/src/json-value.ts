/** Values of a schema as bytes of JSON and back. */
import { Option, Result, Schema } from "effect"

/** Makes bytes of values, and values of bytes that hold one. */
export interface JsonValue<A> {
  readonly encode: (value: A) => Uint8Array
  readonly decode: (bytes: Uint8Array) => Option.Option<A>
}

/** The JSON form of a schema's values. */
export const jsonValue = <A, I>(schema: Schema.Codec<A, I>): JsonValue<A> => {
  const codec = Schema.fromJsonString(Schema.toCodecJson(schema))
  const encode = Schema.encodeSync(codec)
  const decode = Schema.decodeUnknownResult(codec)
  return {
    encode: (value) => Buffer.from(encode(value), "utf8"),
    decode: (bytes) => Result.getSuccess(decode(Buffer.from(bytes).toString("utf8")))
  }
}
