/** Every port in memory, with a fault plan. */
export {}
