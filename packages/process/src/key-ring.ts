/**
 * The cluster's keys as a running process uses them: read at its start, and again whenever their
 * file has changed. A file that cannot be read meanwhile leaves the keys as they were, with one
 * warning for each way in which it is wrong.
 */
import type { MacRing } from "@holdfast/wire"
import { Duration, Effect, type Scope } from "effect"
import { macWith } from "./cluster-key.ts"
import type { CommandFailure } from "./command-failure.ts"
import { type ClusterKey, fingerprintOf, readClusterKeys } from "./key-file.ts"

/** After a change of the file, every process has its keys within this time. */
export const keyFileReadEvery = Duration.seconds(1)

type Mac = MacRing["sign"]

/** The keys of one reading of the file, the signing one first. */
interface Keys {
  readonly fingerprints: string
  readonly sign: Mac
  readonly verifies: ReadonlyArray<Mac>
}

const nothingSigns = (): never => {
  throw new Error("a key file without keys was taken")
}

const keysOf = (keys: ReadonlyArray<ClusterKey>): Keys => {
  const verifies = keys.map(macWith)
  return {
    fingerprints: keys.map(fingerprintOf).join(", "),
    sign: verifies[0] ?? nothingSigns,
    verifies
  }
}

/** Opens the ring of a key file and follows the file until the scope closes. */
export const openKeyRing = Effect.fnUntraced(function* (
  file: string
): Effect.fn.Return<MacRing, CommandFailure, Scope.Scope> {
  let present = keysOf(yield* readClusterKeys(file))
  let trouble = ""
  const look = readClusterKeys(file).pipe(
    Effect.flatMap((keys) => {
      trouble = ""
      const read = keysOf(keys)
      if (read.fingerprints === present.fingerprints) return Effect.void
      present = read
      return Effect.logWarning(`the cluster's keys are ${read.fingerprints} now; the first signs`)
    }),
    Effect.catch(({ message }) => {
      if (message === trouble) return Effect.void
      trouble = message
      return Effect.logWarning(`the cluster's keys stay as they are: ${message}`)
    })
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(keyFileReadEvery), look)))
  return { sign: (text) => present.sign(text), verifies: () => present.verifies }
})
