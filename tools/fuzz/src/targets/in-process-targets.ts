/** All targets that need no cluster, in the order of their indices. */
import type { Target } from "../target.ts"
import { fileTargets } from "./files.ts"
import { formatTargets } from "./formats.ts"
import { storeTargets } from "./stores.ts"

/** What a thread that is given this module tries. */
export const targets: ReadonlyArray<Target> = [...formatTargets, ...fileTargets, ...storeTargets]
