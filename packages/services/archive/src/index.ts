/** The archive pipeline: records to segments, chunks and the catalogue. */
export {}
