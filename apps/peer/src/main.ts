/** The peer as a process of its own. */
import { holdfastVersion, runProcess } from "@holdfast/process"
import { Command } from "effect/cli"
import { peerCommand } from "./command.ts"

runProcess(Command.run(peerCommand, { version: holdfastVersion }))
