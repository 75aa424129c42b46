/** A plain file cut into the pieces that become its chunks. */
import { Stream } from "effect"

/**
 * Parts of any length as pieces of exactly `size` bytes, but for the last. Of data that fails no
 * last piece comes: it would be none of the whole file's.
 */
export const intoPieces = <E>(
  data: Stream.Stream<Uint8Array, E>,
  size: number
): Stream.Stream<Uint8Array, E> =>
  Stream.suspend(() => {
    let piece = new Uint8Array(size)
    let filled = 0
    const cut = (part: Uint8Array): ReadonlyArray<Uint8Array> => {
      const full: Array<Uint8Array> = []
      for (let offset = 0; offset < part.length;) {
        const taken = Math.min(size - filled, part.length - offset)
        piece.set(part.subarray(offset, offset + taken), filled)
        filled += taken
        offset += taken
        if (filled < size) continue
        full.push(piece)
        piece = new Uint8Array(size)
        filled = 0
      }
      return full
    }
    const whole = data.pipe(Stream.map(cut), Stream.flattenIterable)
    const rest = Stream.suspend(() =>
      filled === 0 ? Stream.empty : Stream.make(piece.subarray(0, filled))
    )
    return Stream.concat(whole, rest)
  })
