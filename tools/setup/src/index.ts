/** Installs what a fresh clone lacks. */
export {}
