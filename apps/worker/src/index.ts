/** The worker as a process. */
export {}
