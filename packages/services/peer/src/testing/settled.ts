/** What tests wait for after a change of the cluster. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, type makeCluster } from "./cluster.ts"

/** A cluster as tests make it. */
export type TestCluster = Effect.Success<ReturnType<typeof makeCluster>>

/** Waits until a peer says that nothing is on its way and these are the members. */
export const settled = (cluster: TestCluster, at: string, members: ReadonlyArray<string>) =>
  eventually(
    Effect.gen(function* () {
      const view = yield* cluster.view(at)
      assert.deepStrictEqual(
        view.members.map(({ peer }) => String(peer)),
        members
      )
      assert.deepStrictEqual([view.step, view.pending, view.sweeping], [null, 0, []])
      assert.isTrue(view.members.every(({ share }) => share > 0))
      // What somebody who is gone still owns is yet to be copied.
      assert.approximately(
        view.members.reduce((sum, { share }) => sum + share, 0),
        1,
        1e-6
      )
      return view
    })
  )
