/** The sentence for an option that does not exist. */
import { closestMatch } from "leven"

/** Names the unknown option and the nearest known one; case does not count. */
export const unknownOption = (name: string, known: ReadonlyArray<string>): string => {
  const inLowerCase = known.map((one) => one.toLowerCase())
  const maxDistance = Math.max(2, Math.floor(name.length / 3))
  const nearest = closestMatch(name.toLowerCase(), inLowerCase, { maxDistance })
  return nearest === undefined
    ? `there is no option "${name}"; there are ${known.join(", ")}`
    : `there is no option "${name}"; did you mean "${known[inLowerCase.indexOf(nearest)]}"?`
}
