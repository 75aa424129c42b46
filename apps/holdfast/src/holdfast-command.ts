/** The command line: every command of Holdfast, and the services as commands. */
import { chunkServerCommand } from "@holdfast/chunk-server-app"
import { metadataCommand } from "@holdfast/metadata-app"
import { peerCommand } from "@holdfast/peer-app"
import { workerCommand } from "@holdfast/worker-app"
import { Command } from "effect/cli"
import { aggregateCommand } from "./commands/aggregate.ts"
import { archiveCommand } from "./commands/archive.ts"
import { chunksCommand } from "./commands/chunks.ts"
import { demoCommand } from "./commands/demo.ts"
import { devicesCommand } from "./commands/devices.ts"
import { getCommand } from "./commands/get.ts"
import { hostsCommand } from "./commands/hosts.ts"
import { ingestCommand } from "./commands/ingest.ts"
import { keyCommand } from "./commands/key.ts"
import { lsCommand } from "./commands/ls.ts"
import { partitionsCommand } from "./commands/partitions.ts"
import { peersCommand } from "./commands/peers.ts"
import { putCommand } from "./commands/put.ts"
import { readCommand } from "./commands/read.ts"
import { replayCommand } from "./commands/replay.ts"
import { restoreCommand } from "./commands/restore.ts"
import { rmCommand } from "./commands/rm.ts"
import { safeModeCommand } from "./commands/safe-mode.ts"
import { searchCommand } from "./commands/search.ts"
import { shardsCommand } from "./commands/shards.ts"
import { statusCommand } from "./commands/status.ts"
import { simulateCommand } from "./commands/simulate.ts"
import { upCommand } from "./commands/up.ts"
import { verifyCommand } from "./commands/verify.ts"

/** `holdfast`, with all its commands. */
export const holdfastCommand = Command.make("holdfast").pipe(
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
    replayCommand,
    restoreCommand,
    verifyCommand,
    putCommand,
    getCommand,
    lsCommand,
    rmCommand,
    statusCommand,
    devicesCommand,
    hostsCommand,
    chunksCommand,
    peersCommand,
    partitionsCommand,
    shardsCommand,
    safeModeCommand,
    keyCommand,
    aggregateCommand,
    simulateCommand,
    metadataCommand,
    chunkServerCommand,
    peerCommand,
    workerCommand
  ])
)
