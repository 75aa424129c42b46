/** Messaging, RecordSource, CheckpointStore and Lease on NATS and JetStream. */
export { NatsConnections } from "./connections.ts"
export type { ManagedConnection } from "./managed-connection.ts"
export { openConnection } from "./managed-connection.ts"
export { NatsError } from "./nats-error.ts"
export {
  makeNatsMessaging,
  natsMessagingLayer,
  type NatsMessagingOptions
} from "./nats-messaging.ts"
export type { NatsOptions, NatsTlsOptions } from "./nats-options.ts"
