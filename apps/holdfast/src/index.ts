/** The command line, and the whole cluster in one process. */
export {}
