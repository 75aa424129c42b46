/** The peer as a process. */
export {}
