/** The metadata service: one loop around the chunk map. */
export {}
