/** The contracts between services: operations, their schemas, error envelopes and capability tokens. */
export {}
