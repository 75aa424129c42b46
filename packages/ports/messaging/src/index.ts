export {
  type ConnectionState,
  type Headers,
  type IncomingMessage,
  type ListenOptions,
  Messaging,
  type PublishOptions,
  type Reply,
  type RequestOptions
} from "./messaging.ts"
export { MessagingError, MessagingErrorCode } from "./messaging-error.ts"
