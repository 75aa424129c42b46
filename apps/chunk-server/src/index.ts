/** The chunk server as a process. */
export {}
