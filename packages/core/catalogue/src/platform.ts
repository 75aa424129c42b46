/** What the catalogue needs of the platform, passed in as plain functions. */

/** SHA-256 of bytes: 32 bytes. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/** Text to UTF-8 and back. Decoding never throws; what is not UTF-8 becomes U+FFFD. */
export interface TextCodec {
  readonly encodeText: (text: string) => Uint8Array
  readonly decodeText: (bytes: Uint8Array) => string
}

/** Everything that the catalogue needs. */
export interface CataloguePlatform extends TextCodec {
  readonly sha256: Sha256
}
