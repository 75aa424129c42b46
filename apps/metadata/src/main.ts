/** The metadata service as a process of its own. */
import { holdfastVersion, runProcess } from "@holdfast/process"
import { Command } from "effect/cli"
import { metadataCommand } from "./command.ts"

runProcess(Command.run(metadataCommand, { version: holdfastVersion }))
