/** Whole clusters of the real services on memory adapters, under virtual time and faults, from one seed. */
export {}
