/** The peer as a process, and as a part of a larger one. */
export { peerCommand } from "./command.ts"
export { observePeer } from "./observations.ts"
export { peerProcess, type PeerProcessOptions } from "./peer-process.ts"
