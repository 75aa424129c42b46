/** The library that a program uses: archives, search, read, put and get. */
export {}
