/** What the format needs of the platform, passed in as plain functions. */

/** The MD5 digest of bytes: always 16 of them. */
export type Md5 = (bytes: Uint8Array) => Uint8Array

/**
 * Inflates a zlib stream.
 *
 * Must produce no more than `bytesMax` bytes, whatever it is given: this is what stops a bomb. It
 * throws on what is no zlib stream, is damaged or would be longer; the caller catches that.
 */
export type Inflate = (deflated: Uint8Array, bytesMax: number) => Uint8Array

/** Deflates into a zlib stream, growing its input by 1/1024 and 64 bytes at most. */
export type Deflate = (bytes: Uint8Array) => Uint8Array
