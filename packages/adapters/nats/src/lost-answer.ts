/** A write whose answer was lost may have been stored; looking once tells. */
import { Effect, Option } from "effect"
import type { BucketEntry } from "./bucket.ts"
import type { JetStreamFailure } from "./jetstream-call.ts"

/**
 * Runs a write; when it fails as `unavailable`, what is stored is looked up once. If that is the
 * value itself, above the revision that it was to replace, the write succeeded: values carry their
 * writer's name and epoch, so nobody else has written it.
 */
export const confirmWrite = (options: {
  readonly write: Effect.Effect<bigint, JetStreamFailure>
  readonly look: Effect.Effect<Option.Option<BucketEntry>, JetStreamFailure>
  readonly replaced: bigint
  readonly value: Uint8Array
}): Effect.Effect<bigint, JetStreamFailure> =>
  Effect.catch(options.write, (failure) => {
    if (failure.kind !== "unavailable") return Effect.fail(failure)
    return Effect.flatMap(options.look, (found) =>
      Option.isSome(found) && isOwn(found.value, options)
        ? Effect.succeed(found.value.revision)
        : Effect.fail(failure)
    )
  })

const isOwn = (
  entry: BucketEntry,
  own: { readonly replaced: bigint; readonly value: Uint8Array }
): boolean =>
  entry.revision > own.replaced &&
  entry.value.length === own.value.length &&
  entry.value.every((byte, index) => byte === own.value[index])
