/**
 * The little language of this core's traces: one tracker, and the maps that were stored of it.
 *
 *     open epoch=7 after=10 map=saved newest=99 records= items= bytes= span= partsPerRecord=
 *     policy retries=2 initialMs=100 factor=2 maximumMs=300 exhausted=skip
 *     admit 11 12 bytes=1 parts=3 seenAt=0
 *     expect 11 3                       declares the number of parts
 *     complete 11 12 epoch=7            by positions; `#4` is an ordinal
 *     part 11 0/3                       part 0 of 3
 *     fail 11 kind=item                 part=0/3 for one part of it
 *     settle 11 skipped                 or dead-lettered
 *     checkpoint as=saved               stores position and map under a name
 *     damage saved                      flips a bit of a stored map
 *     fence
 */
import type { TraceCommand, TraceLanguage, TraceView } from "@holdfast/suites"
import { Result, Schema } from "effect"
import { checkpoint } from "../checkpoint.ts"
import { type CompletionMap, runsOf } from "../completion-map.ts"
import { invariants } from "../invariants.ts"
import { defaultLimits, type Refusal } from "../limits.ts"
import { decodeMap } from "../map-decode.ts"
import { encodeMap } from "../map-encode.ts"
import type { PartReport } from "../outcome.ts"
import { partsOf } from "../part-set.ts"
import { decide, type Decision, defaultErrorPolicy, ErrorPolicy } from "../policy.ts"
import { Tracker } from "../tracker.ts"
import {
  type Admission,
  asOrdinal,
  type FailureOutcome,
  type Ordinal,
  type Standing,
  type UnfinishedRecord
} from "../tracker-types.ts"

/** A fresh world without a tracker; `open` makes one. */
export const openLanguage = (): TraceLanguage => {
  const world = new World()
  return { verbs: world.verbs, view: () => world.view() }
}

interface Stored {
  readonly position: bigint | undefined
  readonly bytes: Uint8Array
}

const describeRefusal = (refusal: Refusal): string => {
  switch (refusal._tag) {
    case "LimitReached":
      return `the limit on ${refusal.limit} is ${refusal.maximum}`
    case "TooLarge":
      return `too large: ${refusal.what} are ${refusal.maximum} at most`
    case "OutOfOrder":
      return `out of order: ${refusal.position} was never admitted, ${refusal.newest} was`
  }
}

const describeAdmission = (admission: Admission): string => {
  switch (admission._tag) {
    case "Admitted":
      return `admitted as #${admission.ordinal}`
    case "Resumed": {
      const parts = [...partsOf(admission.finished)].join(" ")
      return `resumed as #${admission.ordinal}, parts ${parts} are finished`
    }
    case "Repeated":
      return `repeated, it is #${admission.ordinal}`
    case "Finished":
      return "finished"
    case "Refused":
      return `refused, ${describeRefusal(admission.refusal)}`
    case "Stale":
      return "stale"
  }
}

const describeDecision = (decision: Decision): string =>
  decision._tag === "Retry" ? `Retry after ${decision.delayMs} ms` : decision._tag

const describeMap = (map: CompletionMap): ReadonlyArray<string> => {
  const { from, to } = runsOf(map.claims)
  return [
    ...from.map((start, index) => `finished above: ${start} to ${to[index]}`),
    ...map.partials.map(({ finished, position }) => {
      const parts = [...partsOf(finished)].join(" ")
      return `finished above: parts ${parts} of the ${finished.total} of ${position}`
    })
  ]
}

const describeRecord = (record: UnfinishedRecord): string => {
  const { failedAttempts, outages, parts, position } = record
  const missing = parts === undefined ? "" : ` lacks ${parts.missing} of ${parts.total}`
  const failed = failedAttempts > 0 ? ` failed ${failedAttempts} times` : ""
  return `${position}${missing}${failed}${outages > 0 ? ` met ${outages} outages` : ""}`
}

/** What is in flight; a record is one item of one byte unless it says otherwise. */
const describeUsage = ({ bytes, items, records, span }: Omit<Standing, "counters">): string =>
  [
    `${records}`,
    ...(items === records ? [] : [`${items} items`]),
    ...(bytes === records ? [] : [`${bytes} bytes`]),
    ...(span === records ? [] : [`span ${span}`])
  ].join(", ")

const readPart = (text: string): PartReport => {
  const [index = "", total = ""] = text.split("/")
  return { index: Number(index), total: Number(total) }
}

class World {
  private tracker: Tracker | undefined
  private policy: ErrorPolicy = defaultErrorPolicy
  private readonly stored = new Map<string, Stored>()

  readonly verbs: TraceLanguage["verbs"] = {
    open: (command) => this.open(command),
    policy: (command) => {
      const exhausted = command.setting("exhausted") ?? "halt"
      const schedule = command.numberSettings()
      this.policy = Schema.decodeUnknownSync(ErrorPolicy)({ _tag: "Retry", schedule, exhausted })
      return []
    },
    admit: (command) => this.admit(command),
    expect: (command) => {
      const ordinal = this.ordinal(command.word("a record"))
      const outcome = this.opened.expect(ordinal, this.epoch(command), command.number("a total"))
      return [outcome]
    },
    complete: (command) => {
      const epoch = this.epoch(command)
      return command
        .rest()
        .map((name) => `${name}: ${this.opened.complete(this.ordinal(name), epoch)}`)
    },
    part: (command) => {
      const ordinal = this.ordinal(command.word("a record"))
      const epoch = this.epoch(command)
      return command.rest().map((text) => {
        return `${text}: ${this.opened.completePart(ordinal, epoch, readPart(text))}`
      })
    },
    fail: (command) => this.fail(command),
    settle: (command) => {
      const ordinal = this.ordinal(command.word("a record"))
      const how = Schema.decodeUnknownSync(Schema.Literals(["skipped", "dead-lettered"]))(
        command.word("how")
      )
      return [this.opened.settle(ordinal, this.epoch(command), how)]
    },
    checkpoint: (command) => this.checkpoint(command),
    damage: (command) => {
      const name = command.word("a name")
      const { bytes, position } = this.map(name)
      this.stored.set(name, { position, bytes: bytes.with(9, (bytes[9] ?? 0) ^ 4) })
      return []
    },
    fence: () => {
      this.opened.fence()
      return []
    }
  }

  /** Where the tracker stands, its unfinished records, and its counters that have moved. */
  view(): TraceView {
    const lines = new Map<string, string>()
    if (this.tracker === undefined) return lines
    const { counters, ...standing } = this.tracker.standing
    if (standing.lowWatermark !== undefined) lines.set("watermark", `${standing.lowWatermark}`)
    const unfinished = this.tracker.unfinished(100)
    if (unfinished.length > 0) lines.set("unfinished", unfinished.map(describeRecord).join(", "))
    if (standing.span > 0) lines.set("in flight", describeUsage(standing))
    if (this.tracker.isFenced) lines.set("fenced", "yes")
    for (const [name, count] of Object.entries(counters)) {
      const isShown = count > 0 && name !== "admitted" && name !== "finished"
      if (isShown) lines.set(`counted ${name}`, `${count}`)
    }
    const [violation] = invariants(this.tracker)
    if (violation !== undefined) throw new Error(`${violation.rule}: ${violation.found}`)
    return lines
  }

  private get opened(): Tracker {
    if (this.tracker === undefined) throw new Error("there is no tracker; open one")
    return this.tracker
  }

  private ordinal(name: string): Ordinal {
    if (name.startsWith("#")) return asOrdinal(Number(name.slice(1)))
    const ordinal = this.opened.find(BigInt(name))
    if (ordinal === undefined) throw new Error(`position ${name} is not in the window`)
    return ordinal
  }

  private epoch(command: TraceCommand): number {
    return command.numberSetting("epoch") ?? this.opened.epoch
  }

  private map(name: string): Stored {
    const stored = this.stored.get(name)
    if (stored === undefined) throw new Error(`nothing is stored as ${name}`)
    return stored
  }

  private open(command: TraceCommand): ReadonlyArray<string> {
    const epoch = command.numberSetting("epoch") ?? 1
    const newest = command.setting("newest")
    const from = command.setting("map")
    const after = command.setting("after")
    const limits = { ...defaultLimits, ...command.numberSettings() }
    const stored = from === undefined ? undefined : this.map(from)
    const base = after === undefined ? stored?.position : BigInt(after)
    if (stored === undefined) {
      this.tracker = new Tracker({ limits, epoch, after: base })
      return []
    }
    const above = newest === undefined ? undefined : BigInt(newest)
    const map = decodeMap(stored.bytes, { base, newest: above })
    const restored = Result.isSuccess(map) ? map.success : undefined
    this.tracker = new Tracker({ limits, epoch, after: base, restored })
    return Result.isSuccess(map)
      ? ["the map is used", ...describeMap(map.success)]
      : [`${map.failure.code}: ${map.failure.message}`]
  }

  private admit(command: TraceCommand): ReadonlyArray<string> {
    const bytes = command.numberSetting("bytes") ?? 1
    const seenAt = command.numberSetting("seenAt") ?? 0
    const parts = command.numberSetting("parts")
    return command.rest().map((name) => {
      const arrival = { position: BigInt(name), bytes, seenAt }
      const admission = this.opened.admit(parts === undefined ? arrival : { ...arrival, parts })
      return `${name}: ${describeAdmission(admission)}`
    })
  }

  private fail(command: TraceCommand): ReadonlyArray<string> {
    const ordinal = this.ordinal(command.word("a record"))
    const part = command.setting("part")
    const kind = Schema.decodeUnknownSync(Schema.Literals(["item", "outage", "protocol", "fatal"]))(
      command.setting("kind") ?? "item"
    )
    const epoch = this.epoch(command)
    const outcome: FailureOutcome = this.opened.fail(ordinal, epoch, {
      isOutage: kind === "outage",
      ...(part === undefined ? {} : { part: readPart(part) })
    })
    if (outcome._tag === "Ignored") return [`ignored, ${outcome.outcome}`]
    const decision = decide(this.policy, { attempt: outcome.attempt, kind })
    return [`attempt ${outcome.attempt} failed, the policy says ${describeDecision(decision)}`]
  }

  private checkpoint(command: TraceCommand): ReadonlyArray<string> {
    const { map, position } = checkpoint(this.opened)
    const name = command.setting("as")
    if (name !== undefined) this.stored.set(name, { position, bytes: encodeMap(map).bytes })
    return [`position ${position ?? "none"}`, ...describeMap(map)]
  }
}
