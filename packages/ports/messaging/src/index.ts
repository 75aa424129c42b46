/** The Messaging port: request/reply and publish with deadlines, limits and typed failures. */
export {}
