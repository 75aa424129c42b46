/** RecordSource, CheckpointStore and Lease over the KCL MultiLangDaemon protocol. */
export { type CheckpointRetry, defaultRetry } from "./checkpoint-store.ts"
export type { SessionEnd } from "./connection.ts"
export { MultiLangDaemon, multiLangDaemon, type MultiLangOptions } from "./multilang-daemon.ts"
export { type KinesisPlace, placeOf, positionOf } from "./position.ts"
