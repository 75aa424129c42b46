import { mutants, simulate, soundSeams } from "@holdfast/simulation"

/** Puts a mistake in, simulates until an oracle sees it, and answers which. */
export const findsTheMistake = (): string | undefined => {
  const mistake = mutants.find(({ name }) => name === "a device serves damaged bytes")
  const seams = { ...soundSeams, ...mistake?.seams }
  const { found } = simulate({ seed: 6, runs: 20, profile: "chunks", seams })
  return found?.violation.invariant
}
