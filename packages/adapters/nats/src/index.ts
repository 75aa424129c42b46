/** Messaging, RecordSource, CheckpointStore and Lease on NATS and JetStream. */
export { type Bucket, type BucketEntry, type BucketOptions, openBucket } from "./bucket.ts"
export { bucketKey } from "./bucket-key.ts"
export { NatsConnections } from "./connections.ts"
export { disarmControlHeaders } from "./control-headers.ts"
export { ensureStream, type StreamOptions } from "./ensure-stream.ts"
export type { JetStreamFailure, JetStreamFailureKind } from "./jetstream-call.ts"
export { type ManagedConnection, openConnection } from "./managed-connection.ts"
export { makeNatsCheckpointStore, natsCheckpointStoreLayer } from "./nats-checkpoint-store.ts"
export {
  type MicroEndpoint,
  microService,
  type MicroServiceOptions,
  type MicroStats
} from "./micro-service.ts"
export { NatsError } from "./nats-error.ts"
export { makeNatsLease, natsLeaseLayer } from "./nats-lease.ts"
export {
  makeNatsMessaging,
  natsMessagingLayer,
  type NatsMessagingOptions
} from "./nats-messaging.ts"
export { checkNatsOptions, type NatsOptions, type NatsTlsOptions } from "./nats-options.ts"
export {
  makeNatsRecordSource,
  natsRecordSourceLayer,
  type NatsRecordSourceOptions
} from "./nats-record-source.ts"
export {
  makeRecordPublisher,
  type OutgoingRecord,
  type Published,
  type PublisherOptions,
  type RecordPublisher,
  RecordPublishError
} from "./record-publisher.ts"
export {
  beginStreamAt,
  describeStream,
  lastOfStream,
  restoreStream,
  type StreamDescription,
  type StreamPlace
} from "./stream-description.ts"
export { makeNatsReplayTarget, type NatsReplayTargetOptions } from "./replay-target.ts"
export { listenFault, matchesSubject } from "./subject.ts"
export type { NatsShard } from "./stream-facts.ts"
