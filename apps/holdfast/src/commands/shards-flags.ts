/** The command `shards` as its subcommands see it: which cluster, and how to print. */
import { jsonFlag } from "@holdfast/process"
import { Command } from "effect/cli"
import { connectionFlags } from "../connection/connect.ts"

/** The command with the flags that all of its subcommands take. */
export const shards = Command.make("shards").pipe(
  Command.withSharedFlags({ ...connectionFlags, json: jsonFlag })
)
