/** Makes hostile bytes of sound ones: as disks, networks and enemies do. */
import type { Random } from "./random.ts"

/** No mutated input is longer than this, in bytes. */
export const inputBytesMax = 256 * 1024

type Mutation = (bytes: Uint8Array, random: Random) => Uint8Array

const changed = (bytes: Uint8Array, change: (copy: Uint8Array) => void): Uint8Array => {
  const copy = Uint8Array.from(bytes)
  change(copy)
  return copy
}

const flipBit: Mutation = (bytes, random) =>
  changed(bytes, (copy) => {
    const at = random.below(copy.length)
    copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8))
  })

const setByte: Mutation = (bytes, random) =>
  changed(bytes, (copy) => {
    copy[random.below(copy.length)] = random.pick([0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x22, 0x7b])
  })

const counts = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff, 0x00ff_ffff, 0x0001_0000]

/** Lengths and counts are where decoders trust too much. */
const setCount: Mutation = (bytes, random) =>
  changed(bytes, (copy) => {
    if (copy.length < 4) return
    const view = new DataView(copy.buffer)
    const at = random.below(copy.length - 3)
    view.setUint32(at, random.pick(counts), random.below(2) === 0)
  })

const truncate: Mutation = (bytes, random) => bytes.slice(0, random.below(bytes.length))

const drop: Mutation = (bytes, random) => {
  const from = random.below(bytes.length)
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 1 + random.below(16))])
}

const repeat: Mutation = (bytes, random) => {
  const from = random.below(bytes.length)
  const piece = bytes.subarray(from, from + 1 + random.below(64))
  const pieces = Array.from({ length: 1 + random.below(64) }, () => piece)
  return Buffer.concat([bytes.subarray(0, from), ...pieces, bytes.subarray(from)])
}

const insert: Mutation = (bytes, random) => {
  const noise = Uint8Array.from({ length: 1 + random.below(32) }, () => random.below(256))
  const at = random.below(bytes.length + 1)
  return Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at)])
}

const mutations: ReadonlyArray<Mutation> = [
  flipBit,
  setByte,
  setCount,
  setCount,
  truncate,
  drop,
  repeat,
  insert
]

/** Mutates a sample up to four times; now and then it is noise, or half of another sample. */
export const mutateBytes = (samples: ReadonlyArray<Uint8Array>, random: Random): Uint8Array => {
  let bytes = random.pick(samples)
  if (random.below(32) === 0) {
    return Uint8Array.from({ length: random.below(512) }, () => random.below(256))
  }
  if (random.below(16) === 0) {
    const other = random.pick(samples)
    const cut = random.below(bytes.length + 1)
    bytes = Buffer.concat([bytes.subarray(0, cut), other.subarray(random.below(other.length + 1))])
  }
  for (let left = 1 + random.below(4); left > 0 && bytes.length > 0; left -= 1) {
    bytes = random.pick(mutations)(bytes, random)
  }
  return bytes.subarray(0, inputBytesMax)
}
