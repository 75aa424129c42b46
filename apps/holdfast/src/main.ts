/** The command line: every command of Holdfast, and the services as commands. */
import { chunkServerCommand } from "@holdfast/chunk-server-app"
import { metadataCommand } from "@holdfast/metadata-app"
import { peerCommand } from "@holdfast/peer-app"
import { runProcess } from "@holdfast/process"
import { workerCommand } from "@holdfast/worker-app"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { archiveCommand } from "./commands/archive.ts"
import { demoCommand } from "./commands/demo.ts"
import { ingestCommand } from "./commands/ingest.ts"
import { readCommand } from "./commands/read.ts"
import { searchCommand } from "./commands/search.ts"
import { devicesCommand, peersCommand, statusCommand } from "./commands/status.ts"
import { upCommand } from "./commands/up.ts"
import { verifyCommand } from "./commands/verify.ts"
import { guardOutput } from "./output/standard-output.ts"

const holdfast = Command.make("holdfast").pipe(
  Command.withDescription(
    "Archives NATS JetStream streams on your own machines: replicated, searchable, accounted for"
  ),
  Command.withSubcommands([
    demoCommand,
    upCommand,
    ingestCommand,
    archiveCommand,
    searchCommand,
    readCommand,
    verifyCommand,
    statusCommand,
    devicesCommand,
    peersCommand,
    metadataCommand,
    chunkServerCommand,
    peerCommand,
    workerCommand
  ])
)

runProcess(Effect.andThen(guardOutput, Command.run(holdfast, { version: "0.1.0" })))
