import { applicationOf } from "@holdfast/service-peer"
import { Result } from "effect"
import { expect, it } from "vitest"

it("the example of an application is one that a peer hosts", async () => {
  const hosted = Result.getOrThrow(applicationOf(await import("./votes.ts"), "examples/votes.ts"))
  const participant = { peer: "a", incarnation: 0 } as Parameters<
    ReturnType<typeof hosted.create>["acknowledge"]
  >[0]
  const birth = hosted.create({ key: "0".repeat(64), epoch: 0, participants: [participant] })
  const vote = (voter: string, choice: string) => ({ voter, choice })
  const events = [vote("ann", "tea"), vote("ben", "tea"), vote("ann", "coffee")]
  const command = { issuer: participant, events, request: "r1", pendingMax: 10 }
  const { outputs, replica } = Result.getOrThrow(birth.apply(command))
  expect(outputs).toEqual([1, 2, 1])
  expect(replica.projected()).toEqual({ ann: "coffee", ben: "tea" })
  expect(replica.tags()).toEqual([new TextEncoder().encode("leads coffee")])
})
