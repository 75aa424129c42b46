/**
 * Folds pending entries over the infimum: one at a time as they come, or all anew when a merge put
 * entries among them.
 *
 * 1. An event whose request is within the window is not applied; its output is the first one.
 */
import type { Fold } from "./application.ts"
import type { Entry } from "./entry.ts"
import type { RequestLog, SeenRequest } from "./request-log.ts"
import { findRequest, isWithinWindow, rememberRequest, requestLogOf } from "./request-log.ts"
import { push, sequenceOf } from "./sequence.ts"
import type { Projection } from "./state.ts"
import { NO_OUTPUT } from "./state.ts"

/** The projection of a state without pending entries. */
export const emptyProjection = <O, S>(
  value: S,
  requests: ReadonlyArray<SeenRequest<O>>
): Projection<O, S> => ({
  value,
  outputs: sequenceOf<O | typeof NO_OUTPUT>([]),
  requests: requestLogOf(requests)
})

const firstOutput = <O>(
  requests: RequestLog<O>,
  request: string,
  window: number
): { readonly output: O } | null => {
  const found = findRequest(requests, request)
  return found !== null && isWithinWindow(requests, found, window) ? found : null
}

/** With one entry more at the end. */
export const projectEntry = <E, O, S>(
  fold: Fold<E, O, S>,
  window: number,
  projection: Projection<O, S>,
  entry: Entry<E>
): Projection<O, S> => {
  const { outputs, requests, value } = projection
  if (entry._tag !== "Event") return { value, outputs: push(outputs, NO_OUTPUT), requests }
  const { request } = entry
  if (request === null) {
    const applied = fold.apply(entry.event, value)
    return { value: applied.state, outputs: push(outputs, applied.output), requests }
  }
  const first = firstOutput(requests, request, window)
  if (first !== null) return { value, outputs: push(outputs, first.output), requests }
  const { output, state } = fold.apply(entry.event, value)
  return {
    value: state,
    outputs: push(outputs, output),
    requests: rememberRequest(requests, { request, output })
  }
}

/** With many entries more at the end. */
export const projectEntries = <E, O, S>(
  fold: Fold<E, O, S>,
  window: number,
  projection: Projection<O, S>,
  entries: ReadonlyArray<Entry<E>>
): Projection<O, S> => {
  let next = projection
  for (const entry of entries) next = projectEntry(fold, window, next, entry)
  return next
}
