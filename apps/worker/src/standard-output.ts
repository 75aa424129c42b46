/** Standard output for one speaker alone: whatever else is printed there goes to standard error. */
import { Writable } from "node:stream"

/**
 * Takes standard output away from everybody else, `console.log` included; what is written to the
 * answer goes there, and is reported as written when it was taken.
 */
export const takeStandardOutput = (): Writable => {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  const output = new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => {
      write(chunk, (error) => done(error ?? null))
    }
  })
  process.stdout.on("error", (error) => output.destroy(error))
  return output
}
