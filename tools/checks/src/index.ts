/** The repository's own rules as tests. */
export {}
