/** The worker as a process of its own. */
import { holdfastVersion, runProcess } from "@holdfast/process"
import { Command } from "effect/cli"
import { workerCommand } from "./command.ts"

runProcess(Command.run(workerCommand, { version: holdfastVersion }))
