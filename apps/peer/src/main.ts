/** The peer as a process of its own. */
import { runProcess } from "@holdfast/process"
import { Command } from "effect/cli"
import { peerCommand } from "./command.ts"

runProcess(Command.run(peerCommand, { version: "0.1.0" }))
