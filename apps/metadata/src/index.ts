/** The metadata service as a process. */
export {}
