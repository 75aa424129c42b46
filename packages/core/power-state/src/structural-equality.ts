/**
 * Equality of events that arrived on two ways: plain data, byte arrays, maps and sets, by content.
 * Own code, because it stands in the path of each merge and a general library's hashing costs more
 * than the merge itself.
 */

const sameBytes = (left: Uint8Array, right: Uint8Array): boolean => {
  if (left.length !== right.length) return false
  for (let index = 0; index < left.length; index += 1) {
    if (left[index] !== right[index]) return false
  }
  return true
}

const sameItems = (left: ReadonlyArray<unknown>, right: ReadonlyArray<unknown>): boolean => {
  if (left.length !== right.length) return false
  for (let index = 0; index < left.length; index += 1) {
    if (!structurallyEqual(left[index], right[index])) return false
  }
  return true
}

const sameFields = (left: object, right: object): boolean => {
  const names = Object.keys(left)
  if (names.length !== Object.keys(right).length) return false
  for (const name of names) {
    if (!Object.hasOwn(right, name)) return false
    if (!structurallyEqual(Reflect.get(left, name), Reflect.get(right, name))) return false
  }
  return true
}

/** Whether both hold the same data; cost in proportion to the smaller. */
export const structurallyEqual = (left: unknown, right: unknown): boolean => {
  if (Object.is(left, right)) return true
  if (typeof left !== "object" || typeof right !== "object") return false
  if (left === null || right === null) return false
  if (left instanceof Uint8Array) return right instanceof Uint8Array && sameBytes(left, right)
  if (Array.isArray(left)) return Array.isArray(right) && sameItems(left, right)
  if (left instanceof Map || left instanceof Set) {
    return (
      Object.getPrototypeOf(left) === Object.getPrototypeOf(right) &&
      sameItems(Array.from(left), Array.from(right as Iterable<unknown>))
    )
  }
  return !Array.isArray(right) && sameFields(left, right)
}
