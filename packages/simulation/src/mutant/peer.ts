/** Mistakes of the partition store and of messages between peers. */
import type { Messaging } from "@holdfast/messaging"
import type { PartitionStore } from "@holdfast/storage"
import { headerNames } from "@holdfast/wire"
import { Effect, Option } from "effect"
import type { Mutant } from "./mutant.ts"

type Partitions = PartitionStore["Service"]
type Messages = Messaging["Service"]

const acknowledgesEarly = (store: Partitions): Partitions => ({
  ...store,
  commit: (writes) => Effect.asVoid(Effect.forkDetach(store.commit(writes)))
})

const forgetsTags = (store: Partitions): Partitions => ({
  ...store,
  commit: ({ facts, partitions }) =>
    store.commit({ facts, partitions: partitions.map((one) => ({ ...one, tags: [] })) })
})

const findsNothing = (store: Partitions): Partitions => ({
  ...store,
  load: () => Effect.succeed(Option.none())
})

const losesWrites = (store: Partitions): Partitions => {
  let commits = 0
  return {
    ...store,
    commit: (writes) => {
      commits += 1
      return commits % 20 === 0 ? Effect.void : store.commit(writes)
    }
  }
}

/** Each attempt looks like another request: nothing tells a retry from a new one. */
const forgetsRequestIds = (messaging: Messages, node: string): Messages => {
  let requests = 0
  return {
    ...messaging,
    request: (options) => {
      requests += 1
      const requestId = `${node}-${requests}`
      const headers = { ...options.headers, [headerNames.requestId]: requestId }
      return messaging.request({ ...options, headers })
    }
  }
}

/** Peers answer merges as if they had taken them, and compare nothing. */
const loses =
  (operation: string) =>
  (messaging: Messages): Messages => ({
    ...messaging,
    serve: (options, handler) =>
      options.subject.endsWith(`.${operation}`) ? Effect.void : messaging.serve(options, handler)
  })

/** Mistakes of peers. */
export const peerMutants: ReadonlyArray<Mutant> = [
  {
    name: "a merge is answered before it is saved",
    profile: "peers",
    seams: { partitions: acknowledgesEarly }
  },
  {
    name: "a commit leaves the index as it was",
    profile: "peers",
    seams: { partitions: forgetsTags }
  },
  {
    name: "a partition that left memory is not found again",
    profile: "peers",
    seams: { partitions: findsNothing }
  },
  {
    name: "some commits are acknowledged and not made",
    profile: "peers",
    seams: { partitions: losesWrites }
  },
  {
    name: "a retry is taken for a new request",
    profile: "peers",
    seams: { messaging: forgetsRequestIds }
  },
  {
    name: "peers never compare what they hold",
    profile: "peers",
    seams: { messaging: loses("compare") }
  }
]
