/**
 * `holdfast key`: the file of the cluster's keys, and how one key takes the place of another
 * without a request that fails: `add`, then `promote`, then `retire`, each on every host before the
 * next one. Running services follow the file.
 */
import {
  addClusterKey,
  type CommandFailure,
  createClusterKey,
  fingerprintOf,
  jsonFlag,
  keyFileFlag,
  promoteClusterKey,
  readClusterKeys,
  retireClusterKeys
} from "@holdfast/process"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { toJson, writeLine } from "../output/standard-output.ts"

const flags = { keyFile: keyFileFlag, json: jsonFlag }

/** Prints which keys a file holds: fingerprints alone, never a key. */
const sayKeys = Effect.fnUntraced(function* (options: {
  readonly keyFile: string
  readonly json: boolean
}) {
  const [signs = "", ...others] = (yield* readClusterKeys(options.keyFile)).map(fingerprintOf)
  if (options.json) return yield* writeLine(toJson({ signs, verifies: [signs, ...others] }))
  yield* writeLine([`${signs} signs`, ...others.map((key) => `${key} verifies`)].join("\n"))
})

const step = (options: {
  readonly name: string
  readonly description: string
  readonly take: (file: string) => Effect.Effect<void, CommandFailure>
}) =>
  Command.make(options.name, flags, (given) =>
    Effect.andThen(options.take(given.keyFile), sayKeys(given))
  ).pipe(Command.withDescription(options.description))

/** `holdfast key create|list|add|promote|retire --key-file FILE`. */
export const keyCommand = Command.make("key").pipe(
  Command.withDescription("The file of the cluster's keys: change the key of a running cluster"),
  Command.withSubcommands([
    step({
      name: "create",
      description: "Make a key file, unless there is one",
      take: createClusterKey
    }),
    step({ name: "list", description: "Say which keys there are", take: () => Effect.void }),
    step({
      name: "add",
      description: "Add a new key: it verifies, the present one goes on signing",
      take: addClusterKey
    }),
    step({
      name: "promote",
      description: "Let the newest key sign: the others go on verifying",
      take: promoteClusterKey
    }),
    step({
      name: "retire",
      description:
        "Take out all keys but the signing one, ten minutes or more after the last promotion",
      take: retireClusterKeys
    })
  ])
)
