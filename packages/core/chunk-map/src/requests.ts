/** Answers remembered by request id, so that a retry changes nothing; the oldest go first. */
import type { Draft } from "./draft.ts"
import type { Remembered } from "./model.ts"

type WithoutSequence<R> = R extends unknown ? Omit<R, "sequence"> : never

/** The answer that a request id already got; null is no request id. */
export const recall = (draft: Draft, requestId: string | null): Remembered | undefined =>
  requestId === null ? undefined : draft.requests.get(requestId)

/** Remembers the answer of a request id. */
export const remember = (
  draft: Draft,
  requestId: string | null,
  answer: WithoutSequence<Remembered>
): void => {
  if (requestId === null) return
  const sequence = ++draft.scalars.requestSequence
  draft.requests.set(requestId, { ...answer, sequence })
  draft.requestOrder.set(sequence, requestId)
  while (draft.requestOrder.size > draft.settings.requestsMax) {
    for (const [oldest, name] of draft.requestOrder.slice(1)) {
      draft.requestOrder.delete(oldest)
      if (draft.requests.get(name)?.sequence === oldest) draft.requests.delete(name)
    }
  }
}
