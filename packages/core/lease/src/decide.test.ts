import { Option } from "effect"
import { describe, expect, it } from "vitest"
import type { Claim, Holding, StoredClaim } from "./claim.ts"
import { decide, type LeaseAction } from "./decide.ts"
import { emptyTable, observe, observeOne } from "./observe.ts"
import { mayAct, released } from "./ownership.ts"

const claim = (shard: string, owner?: string, more: Partial<Claim> = {}): StoredClaim => ({
  record: {
    shard,
    owner: Option.fromUndefinedOr(owner),
    epoch: 3,
    beat: 8,
    wantedBy: Option.none(),
    ...more
  },
  revision: 10n
})

const wanted = (by: string): Partial<Claim> => ({ wantedBy: Option.some(by) })

/** What `me` decides about the claims, which it saw change `ago` milliseconds before. */
const decided = (
  claims: ReadonlyArray<StoredClaim>,
  options: {
    readonly shards?: ReadonlyArray<string>
    readonly holds?: ReadonlyArray<string>
    readonly draining?: ReadonlyArray<string>
    readonly ago?: number
    readonly isAccepting?: boolean
  } = {}
): ReadonlyArray<string> => {
  const holding = (shard: string): [string, Holding] => [
    shard,
    { epoch: 3, renewedAt: 0, isDraining: options.draining?.includes(shard) ?? false }
  ]
  return decide({
    table: observe(emptyTable, claims, 0),
    now: options.ago ?? 10,
    termMs: 1_000,
    self: "me",
    shards: options.shards ?? claims.map(({ record }) => record.shard),
    held: new Map([...(options.holds ?? []), ...(options.draining ?? [])].map(holding)),
    isAccepting: options.isAccepting ?? true
  })
    .map(describeAction)
    .sort()
}

const describeAction = (action: LeaseAction): string => {
  switch (action._tag) {
    case "Claim":
    case "Renew":
    case "Ask": {
      const { epoch, shard, wantedBy } = action.claim
      const mark = Option.match(wantedBy, { onNone: () => "", onSome: (by) => ` for ${by}` })
      return `${action._tag} ${shard} ${epoch}${mark}`
    }
    case "HandOff":
      return `HandOff ${action.shard} to ${Option.getOrElse(action.to, () => "nobody")}`
    case "Lost":
      return `Lost ${action.shard}`
  }
}

describe("a worker decides", () => {
  it.each([
    { name: "claims a shard nobody has", claims: [], shards: ["a"], does: ["Claim a 1"] },
    {
      name: "claims a released shard under the next epoch",
      claims: [claim("a")],
      does: ["Claim a 4"]
    },
    { name: "leaves a live claim alone", claims: [claim("a", "other")], does: [] },
    {
      name: "claims a lapsed one",
      claims: [claim("a", "other")],
      ago: 1_000,
      does: ["Claim a 4"]
    },
    {
      name: "waits for its own claim of an earlier life",
      claims: [claim("a", "me")],
      ago: 999,
      does: []
    },
    { name: "renews what it holds", claims: [claim("a", "me")], holds: ["a"], does: ["Renew a 3"] },
    {
      name: "stops what another owner has",
      claims: [claim("a", "other")],
      holds: ["a"],
      does: ["Lost a"]
    },
    {
      name: "stops what has another epoch",
      claims: [claim("a", "me", { epoch: 4 })],
      holds: ["a"],
      does: ["Lost a"]
    },
    {
      name: "leaves a shard that was released for another",
      claims: [claim("a", undefined, wanted("other"))],
      ago: 999,
      does: []
    },
    {
      name: "takes it when the other does not come",
      claims: [claim("a", undefined, wanted("other"))],
      ago: 1_000,
      does: ["Claim a 4"]
    },
    {
      name: "takes what was released for it",
      claims: [claim("a", undefined, wanted("me"))],
      does: ["Claim a 4"]
    },
    {
      name: "asks whoever owns two more",
      claims: [claim("a", "other"), claim("b", "other")],
      does: ["Ask b 3 for me"]
    },
    {
      name: "does not ask for an only shard",
      claims: [claim("a", "other")],
      does: []
    },
    {
      name: "does not ask twice",
      claims: [claim("a", "other"), claim("b", "other", wanted("me"))],
      does: []
    },
    {
      name: "hands over what was asked for, keeping the mark",
      claims: [claim("a", "me", wanted("other")), claim("b", "me")],
      holds: ["a", "b"],
      does: ["HandOff a to other", "Renew a 3 for other", "Renew b 3"]
    },
    {
      name: "keeps its only shard and clears the mark",
      claims: [claim("a", "me", wanted("other"))],
      holds: ["a"],
      does: ["Renew a 3"]
    },
    {
      name: "renews while it drains",
      claims: [claim("a", "me", wanted("other")), claim("b", "me")],
      holds: ["b"],
      draining: ["a"],
      does: ["Renew a 3 for other", "Renew b 3"]
    },
    {
      name: "drains a shard that is gone",
      claims: [claim("a", "me")],
      holds: ["a"],
      shards: [],
      does: ["HandOff a to nobody", "Renew a 3"]
    },
    {
      name: "claims its share only",
      claims: [claim("a", "other"), claim("b"), claim("c"), claim("d")],
      does: ["Claim c 4", "Claim d 4"]
    },
    {
      name: "claims nothing while it shuts down",
      claims: [claim("a")],
      isAccepting: false,
      does: []
    }
  ])("it $name", ({ claims, does, name: _name, ...options }) => {
    expect(decided(claims, options)).toEqual(does)
  })
})

describe("an observer", () => {
  it("counts from the last beat that it saw, not from marks", () => {
    let table = observe(emptyTable, [claim("a", "other")], 0)
    table = observe(table, [claim("a", "other", wanted("me"))], 500)
    expect(table.get("a")).toMatchObject({ changedAt: 0, markedAt: 500 })
    table = observe(table, [claim("a", "other", { beat: 9 })], 700)
    expect(table.get("a")).toMatchObject({ changedAt: 700 })
  })

  it("does not go back to an older sight", () => {
    const newer = { ...claim("a", "me", { beat: 9 }), revision: 11n }
    const table = observeOne(observe(emptyTable, [newer], 0), claim("a", "other"), 50)
    expect(table.get("a")).toMatchObject({ revision: 11n, changedAt: 0 })
  })

  it("an owner stops by itself before others may see its claim lapse", () => {
    const holding = { epoch: 1, renewedAt: 100, isDraining: false }
    const term = { termMs: 1_000, marginMs: 200 }
    expect([899, 900].map((now) => mayAct(holding, now, term))).toEqual([true, false])
  })

  it("a release leaves no owner and keeps the mark for who asked", () => {
    const { record } = claim("a", "me", wanted("other"))
    expect(released(record)).toMatchObject({ owner: Option.none(), epoch: 3, beat: 9 })
    expect(Option.getOrUndefined(released(record).wantedBy)).toBe("other")
  })
})

describe("a paused shard", () => {
  const isPaused = { isPaused: true }

  it("is handed over by its owner and taken by nobody, until it goes on", () => {
    expect(decided([claim("a", "me", isPaused)], { holds: ["a"] })).toEqual([
      "HandOff a to nobody",
      "Renew a 3"
    ])
    expect(decided([claim("a", undefined, isPaused)])).toEqual([])
    expect(decided([claim("a", "other", isPaused)], { ago: 5_000 })).toEqual([])
    expect(decided([claim("a")])).toEqual(["Claim a 4"])
  })

  it("takes no part in what is a fair share", () => {
    const others = [claim("b", "other"), claim("c")]
    expect(decided(others)).toEqual(["Claim c 4"])
    expect(decided([claim("a", undefined, isPaused), ...others])).toEqual(["Claim c 4"])
  })
})
