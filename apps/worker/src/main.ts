/** The worker as a process of its own. */
import { runProcess } from "@holdfast/process"
import { Command } from "effect/cli"
import { workerCommand } from "./command.ts"

runProcess(Command.run(workerCommand, { version: "0.1.0" }))
