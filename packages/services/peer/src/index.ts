/** The peer: partitions, their propagation, requests, index and search. */
export {}
