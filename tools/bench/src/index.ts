/** Runs the benchmarks that stand beside the packages. */
export {}
