/** The chunk server as a process of its own. */
import { runProcess } from "@holdfast/process"
import { Command } from "effect/cli"
import { chunkServerCommand } from "./command.ts"

runProcess(Command.run(chunkServerCommand, { version: "0.1.0" }))
