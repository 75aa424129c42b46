/** The chunk server as a process of its own. */
import { holdfastVersion, runProcess } from "@holdfast/process"
import { Command } from "effect/cli"
import { chunkServerCommand } from "./command.ts"

runProcess(Command.run(chunkServerCommand, { version: holdfastVersion }))
