/** The known name that an unknown one was probably meant to be. */
import { closestMatch } from "leven"

/** The nearest known name, or undefined when none is near; case does not count. */
export const nearestName = (name: string, known: ReadonlyArray<string>): string | undefined => {
  const wanted = name.toLowerCase()
  const inLowerCase = known.map((one) => one.toLowerCase())
  const maxDistance = Math.max(2, Math.floor(name.length / 3))
  const nearest = closestMatch(wanted, inLowerCase, { maxDistance })
  return nearest === undefined ? undefined : known[inLowerCase.indexOf(nearest)]
}
