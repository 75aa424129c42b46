/** ChunkTransport over HTTP, and Messaging over loopback HTTP for a second terminal. */
export {}
