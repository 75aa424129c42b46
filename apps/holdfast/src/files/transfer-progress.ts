/** The progress of bytes on their way, in MiB. */
import { Effect, type Scope, Stream } from "effect"
import { openProgress } from "../output/progress.ts"

const mebibyte = 1024 * 1024

/**
 * Reports the bytes of a stream as they pass; `bytes` is 0 when their number is not known. A stream
 * that is run again, as a put does that looks for what is stored already, is counted anew.
 */
export const withProgress = Effect.fnUntraced(function* <E, R>(
  data: Stream.Stream<Uint8Array, E, R>,
  options: { readonly label: string; readonly bytes: number }
): Effect.fn.Return<Stream.Stream<Uint8Array, E, R>, never, Scope.Scope> {
  const { bytes, label } = options
  const report = yield* openProgress({ label, unit: "MiB", total: Math.ceil(bytes / mebibyte) })
  return Stream.suspend(() => {
    let passed = 0
    return Stream.tap(data, (part) => {
      passed += part.length
      return report(passed === bytes ? Math.ceil(passed / mebibyte) : Math.floor(passed / mebibyte))
    })
  })
})
