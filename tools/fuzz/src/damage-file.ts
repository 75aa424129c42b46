/** Damages a file in place as disks and broken copies do: by pages and sectors, not by fields. */
import { readFileSync, writeFileSync } from "node:fs"
import { mutateBytes, inputBytesMax } from "./mutate-bytes.ts"
import type { Random } from "./random.ts"

const pageBytes = 4_096
const sectorBytes = 512

type Damage = (bytes: Buffer, random: Random) => Uint8Array

const pageOf = (bytes: Buffer, random: Random): number =>
  random.below(Math.ceil(bytes.length / pageBytes)) * pageBytes

const zeros: Damage = (bytes, random) => {
  const from = pageOf(bytes, random)
  return bytes.fill(0, from, Math.min(bytes.length, from + pageBytes * (1 + random.below(4))))
}

/** Some sectors of a page were written, the others were not. */
const torn: Damage = (bytes, random) => {
  const from = pageOf(bytes, random) + sectorBytes * random.below(pageBytes / sectorBytes)
  const other = pageOf(bytes, random)
  bytes.copyWithin(from, other, other + sectorBytes * (1 + random.below(4)))
  return bytes
}

const swapped: Damage = (bytes, random) => {
  const [one, other] = [pageOf(bytes, random), pageOf(bytes, random)]
  const kept = Buffer.from(bytes.subarray(one, one + pageBytes))
  bytes.copyWithin(one, other, other + pageBytes)
  kept.copy(bytes, other)
  return bytes
}

const cut: Damage = (bytes, random) => bytes.subarray(0, random.below(bytes.length))

/** A byte is missing: all that follows stands where it should not. */
const shifted: Damage = (bytes, random) => {
  const at = random.below(bytes.length)
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(sectorBytes))])
}

const flipped: Damage = (bytes, random) => {
  for (let left = 1 + random.below(8); left > 0; left -= 1) {
    const at = random.below(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
  }
  return bytes
}

const numbers = [0, 1, 0x7fff, 0x8000, 0xfffe, 0xffff]

/** A number near the beginning of a page, where pages say what they are. */
const headChanged: Damage = (bytes, random) => {
  const at = pageOf(bytes, random) + 2 * random.below(80)
  if (at + 2 <= bytes.length) bytes.writeUInt16LE(random.pick(numbers), at)
  return bytes
}

const damages: ReadonlyArray<Damage> = [
  zeros,
  torn,
  swapped,
  cut,
  shifted,
  flipped,
  headChanged,
  headChanged
]

/** Damages a file that holds something, in one way. */
export const damageFile = (file: string, random: Random): void => {
  const bytes = readFileSync(file)
  const isSmall = bytes.length <= inputBytesMax
  const damaged =
    isSmall && random.below(4) === 0
      ? mutateBytes([bytes], random)
      : random.pick(damages)(bytes, random)
  writeFileSync(file, damaged)
}
