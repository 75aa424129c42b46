/**
 * An application of one's own for the peers, as a module: a vote. Each peer of the cluster hosts
 * it:
 *
 *     holdfast peer --nats nats://127.0.0.1:4222 --id p1 --peers p1,p2,p3 --data p1 \
 *       --application examples/votes.ts
 *
 * A partition is one question. Whoever votes again changes his vote; the answer is the present
 * count of what he chose. Questions are found by the choice that leads.
 */
import { defineApplication } from "@holdfast/service-peer"
import { Schema } from "effect"

const Vote = Schema.Struct({ voter: Schema.String, choice: Schema.String })
const Votes = Schema.Record(Schema.String, Schema.String)

const countOf = (votes: typeof Votes.Type, choice: string): number =>
  Object.values(votes).filter((each) => each === choice).length

const leaderOf = (votes: typeof Votes.Type): string | undefined =>
  [...new Set(Object.values(votes))].sort(
    (left, right) => countOf(votes, right) - countOf(votes, left) || (left < right ? -1 : 1)
  )[0]

export default defineApplication<typeof Vote.Type, number, typeof Votes.Type>({
  name: "votes",
  version: 1,
  Event: Vote,
  Output: Schema.Int,
  State: Votes,
  initial: {},
  apply: ({ choice, voter }, votes) => {
    const state = { ...votes, [voter]: choice }
    return { output: countOf(state, choice), state }
  },
  index: (votes) => {
    const leader = leaderOf(votes)
    return leader === undefined ? [] : [new TextEncoder().encode(`leads ${leader}`)]
  }
})
