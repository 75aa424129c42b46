/** The command `partitions` as its subcommands see it: whose partitions, and how to print. */
import { catalogueName } from "@holdfast/catalogue"
import { jsonFlag, numberFlag } from "@holdfast/process"
import { HexKey, PeerId } from "@holdfast/wire"
import { Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { connectionFlags } from "../connection/connect.ts"

const isKey = Schema.is(HexKey)
const keyExpected = (given: string): string =>
  `"${given}" is no partition key; right would be 64 digits, 0 to 9 and a to f`

/** The partition that a subcommand is about. */
export const keyArgument = Argument.String("KEY").pipe(
  Argument.withDescription("The partition's key"),
  Argument.filter(isKey, keyExpected)
)

const pageFlags = {
  after: Flag.String("after").pipe(
    Flag.withDescription("Only partitions behind this key"),
    Flag.filter(isKey, keyExpected),
    Flag.optional
  ),
  limit: numberFlag({
    name: "limit",
    description: "So many at most",
    value: 100,
    least: 1,
    most: 1_000
  })
}

/** The command with the flags that all of its subcommands take. */
export const partitions = Command.make("partitions", pageFlags).pipe(
  Command.withSharedFlags({
    ...connectionFlags,
    json: jsonFlag,
    application: Flag.String("application").pipe(
      Flag.withDescription("The application whose partitions they are"),
      Flag.withDefault(catalogueName)
    ),
    peer: Flag.String("peer").pipe(
      Flag.withDescription("The peer to ask; any when absent"),
      Flag.withSchema(PeerId),
      Flag.optional
    )
  })
)
