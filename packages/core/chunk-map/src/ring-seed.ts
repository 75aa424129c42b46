/** A number that stands for a name in every ring (FNV-1a). */
export const ringSeed = (name: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}
