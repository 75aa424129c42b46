import { Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { planRestore, type RestorePlan } from "./index.ts"

const holding = { records: 1_000, bytes: 100_000, oldestAgeNanos: 3_600_000_000_000n }
const plan = (recorded: object, lifts = false): RestorePlan =>
  Result.getOrThrow(
    planRestore({ recorded: JSON.stringify(recorded), stream: "ORDERS", holding, lifts })
  )
const made = (recorded: object, lifts = false) => JSON.parse(plan(recorded, lifts).configuration)

describe("restoring a stream", () => {
  it("keeps every field as it was recorded, those of later servers too", () => {
    const fields = fc.dictionary(fc.stringMatching(/^x_[a-z]{1,8}$/), fc.jsonValue())
    fc.assert(
      fc.property(fields, fc.boolean(), (more, lifts) => {
        const recorded = { ...more, subjects: ["a.>"], num_replicas: 3, discard: "new" }
        const wanted = JSON.parse(JSON.stringify({ ...recorded, name: "ORDERS" }))
        expect(made(recorded, lifts)).toEqual(wanted)
        expect(plan(recorded, lifts)).toMatchObject({ changed: [], hazards: [] })
      })
    )
  })

  const hazards: ReadonlyArray<readonly [object, object, string]> = [
    [{ max_age: 60_000_000_000 }, { max_age: 0 }, "max_age is 60 s"],
    [{ max_msgs: 999 }, { max_msgs: -1 }, "max_msgs is 999"],
    [{ max_bytes: 100_000 }, { max_bytes: -1 }, "max_bytes is 100000"],
    [{ max_msgs_per_subject: 1 }, { max_msgs_per_subject: -1 }, "max_msgs_per_subject is 1"],
    [{ retention: "interest" }, { retention: "limits" }, 'the retention is "interest"']
  ]
  it.each(hazards)("names %j, and lifts it where that is asked for", (recorded, lifted, words) => {
    expect(plan(recorded).hazards[0]).toContain(words)
    expect(made(recorded)).toEqual({ ...recorded, name: "ORDERS" })
    expect(made(recorded, true)).toEqual({ ...lifted, name: "ORDERS" })
    expect(plan(recorded, true).changed[0]).toContain(words)
    expect(plan(recorded).obstacles).toHaveLength("retention" in recorded ? 1 : 0)
  })

  it.each([
    { max_age: 3_600_000_000_000, max_msgs: 1_000, max_bytes: 400_000 },
    { max_age: 0, max_msgs: -1, max_bytes: -1, max_msgs_per_subject: -1, retention: "limits" }
  ])("finds nothing wrong with %j", (recorded) => {
    expect(plan(recorded).hazards).toEqual([])
  })

  it("leaves out what forbids or distorts publishing, and says so", () => {
    const recorded = {
      mirror: { name: "M" },
      sealed: true,
      no_ack: true,
      republish: { src: ">", dest: "copy.>" },
      max_msg_size: 100
    }
    expect(made(recorded)).toEqual({ name: "ORDERS", max_msg_size: 1_124 })
    expect(plan(recorded).changed.join("; ")).toMatch(/mirror.*sealed.*republish.*no_ack.*1124/)
    expect(plan({ sealed: false, no_ack: false }).changed).toEqual([])
  })

  it.each(["", "{", "[]", "null", "7"])("refuses the configuration %j", (recorded) => {
    const refused = planRestore({ recorded, stream: "ORDERS", holding, lifts: true })
    expect(Result.isFailure(refused) && refused.failure.message).toContain("is damaged")
  })
})
