/**
 * The stored form of version 1, which knew no ejections: read for ever, written no more. It was
 * used for the partitions of a cluster alone, so the cluster has the authority over them.
 */
import { Schema } from "effect"
import { STATE_FORMAT } from "./encoded-state.ts"

/**
 * What of version 1 differs from version 2; the rest is checked there. Nobody was let in again
 * where it was used, so each Join was the first one.
 */
const EncodedState1 = Schema.Struct({
  format: Schema.Literal(1),
  infimum: Schema.Struct({
    departed: Schema.Array(Schema.Tuple([Schema.Unknown, Schema.Unknown]))
  }),
  entries: Schema.Array(Schema.Array(Schema.Unknown))
})

const isEncodedState1 = Schema.is(EncodedState1)

/** Cheap, as it is asked of every state that is read. */
const isFormat1 = (encoded: unknown): boolean =>
  typeof encoded === "object" && encoded !== null && Reflect.get(encoded, "format") === 1

/** A stored form of version 1 as one of version 2; anything else as it is. */
export const upgradeEncodedState = (encoded: unknown): unknown =>
  isFormat1(encoded) && isEncodedState1(encoded)
    ? {
        ...encoded,
        format: STATE_FORMAT,
        authority: "cluster",
        seals: [],
        entries: encoded.entries.map((entry) => (entry[2] === "join" ? [...entry, 0] : entry)),
        infimum: {
          ...encoded.infimum,
          departed: encoded.infimum.departed.map(([place, mark]) => [place, mark, "left"])
        }
      }
    : encoded
