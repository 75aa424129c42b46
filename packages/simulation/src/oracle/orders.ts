/**
 * What the metadata service tells chunk servers to do, judged when it is told and when it is done.
 *
 * | invariant | what must hold |
 * |---|---|
 * | deleted-in-safe-mode | no deletion is told while safe mode is on |
 * | unknown-deleted-early | no unknown copy is told to be deleted before its quarantine age |
 * | unknown-deleted-unsure | nor is that decided while a known device has not reported |
 * | removed-untold | no copy goes from a device that was not told to remove it |
 * | removed-anew | a deletion takes no copy of a committed version that came after it was told |
 * | closed-used | a device that is frozen, drained or taken out is given no new chunk and no new copy |
 * | located-wrong | whoever is said to hold a version has that version |
 * | located-bad | and has not said that its copy is bad, unless a report is to say everything anew |
 */
import { type Draft, openDraft, type State } from "@holdfast/chunk-map"
import type { ChunkName } from "@holdfast/storage"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import { mapSettings } from "../cluster/settings.ts"
import type { Heartbeat, HeartbeatAnswer } from "../cluster/watch.ts"
import { type ChunkHistory, copiesOf } from "./chunk-history.ts"
import type { Oracle } from "./oracle.ts"

type CopyKey = Parameters<Draft["deletions"]["get"]>[0]
type Command = HeartbeatAnswer["commands"][number]

/** Between two looks, and between a look and a turn of the service. */
const slackMillis = 1_000
const quarantineMillis = mapSettings.quarantineMs ?? 0
const unknownMax = 10_000

const nameOf = ({ chunkId, fileId, version }: ChunkName): string =>
  `${fileId}/${chunkId}@${version}`

const placeOf = (device: string, chunk: ChunkName): string => `${nameOf(chunk)} on ${device}`

const isKnowledgeFull = (draft: Draft): boolean =>
  draft.devices
    .slice(draft.devices.size)
    .every(
      ([, { desired, liveness, serving }]) =>
        desired === "removed" || (serving && liveness !== "dead")
    )

/** Follows commands from the moment they are told to the moment they are done. */
class Orders {
  /** When each copy was last stored, and when its deletion was first told. */
  readonly #stored = new Map<string, number>()
  readonly #told = new Map<string, number>()
  readonly #commands = new Set<string>()
  /** Since when each copy is known to be in quarantine. */
  readonly #unknownSince = new Map<string, number>()
  readonly #judged = new Set<string>()
  readonly #closed = new Set<string>()
  readonly #allotted = new Set<string>()
  /** Copies that their devices have told to be bad, by their places, with the device. */
  readonly #bad = new Map<string, string>()
  readonly #cluster: SimulatedCluster
  readonly #history: ChunkHistory
  #fullAt = 0

  constructor(cluster: SimulatedCluster, history: ChunkHistory) {
    this.#cluster = cluster
    this.#history = history
  }

  get #now(): number {
    return this.#cluster.site.time.nowMicros / 1_000
  }

  #report(invariant: string, message: string): void {
    this.#cluster.site.report(invariant, message)
  }

  /** Looks at what is in quarantine, and at what was decided about it. */
  look(state: State): void {
    const draft = openDraft(state, state.now)
    this.#noteKnowledge(draft)
    for (const [key] of draft.quarantine.slice(unknownMax)) {
      const place = this.#placeOf(draft, key)
      if (!this.#unknownSince.has(place)) this.#unknownSince.set(place, this.#now)
    }
    for (const [key, { reason }] of draft.deletions.slice(unknownMax)) {
      if (reason === "unknown") this.#judgeUnknown(this.#placeOf(draft, key))
    }
  }

  #noteKnowledge(draft: Draft): void {
    if (isKnowledgeFull(draft)) this.#fullAt = this.#now
  }

  #placeOf(draft: Draft, key: CopyKey): string {
    return placeOf(draft.deviceNames[key.device] ?? "", key)
  }

  #judgeUnknown(place: string): void {
    if (this.#judged.has(place)) return
    this.#judged.add(place)
    const age = this.#now - (this.#unknownSince.get(place) ?? this.#now)
    if (age < quarantineMillis - slackMillis) {
      this.#report("unknown-deleted-early", `${place}, ${age} ms after it was found`)
    }
    if (this.#now - this.#fullAt > slackMillis) {
      this.#report("unknown-deleted-unsure", `${place}; the last full knowledge is older`)
    }
  }

  told({ changes }: Heartbeat, { commands, refused, reportsWanted }: HeartbeatAnswer): void {
    for (const change of changes) {
      const { chunk, deviceId } = change
      // A host that may not serve a device, as its disk is a copy, says nothing of the right one.
      const isHeard = refused.every((one) => one.deviceId !== deviceId)
      if (change._tag === "Bad" && isHeard) this.#bad.set(placeOf(deviceId, chunk), deviceId)
    }
    for (const { deviceId } of reportsWanted) this.#forgetBad(deviceId)
    for (const command of commands) {
      if (this.#commands.has(command.commandId)) continue
      this.#commands.add(command.commandId)
      if (command._tag === "Delete") this.#toldToDelete(command)
      if (command._tag === "Copy" && this.#closed.has(command.deviceId)) {
        this.#report("closed-used", `${placeOf(command.deviceId, command.chunk)} is to be copied`)
      }
    }
  }

  #toldToDelete({ chunk, deviceId }: Extract<Command, { readonly _tag: "Delete" }>): void {
    const place = placeOf(deviceId, chunk)
    this.#told.set(place, this.#now)
    const state = this.#cluster.metadata.service?.state()
    if (state === undefined) return
    const { manual, phase } = state.safeMode
    if (manual || phase !== "off") {
      this.#report("deleted-in-safe-mode", `${place} is to be deleted, safe mode is ${phase}`)
    }
    const { chunkId, fileId, version } = chunk
    const device = state.deviceNames.indexOf(deviceId)
    const key: CopyKey = { device, fileId, chunkId, version }
    const draft = openDraft(state, state.now)
    // What was decided since the last look may rest on a report that came since then, too.
    this.#noteKnowledge(draft)
    if (draft.deletions.get(key)?.reason === "unknown") this.#judgeUnknown(place)
  }

  /** What was told before a report is told again after it. */
  #forgetBad(device: string): void {
    for (const [place, holder] of this.#bad) if (holder === device) this.#bad.delete(place)
  }

  /** A service that starts has heard of no bad copy. */
  recovered(): void {
    this.#bad.clear()
  }

  stored(device: string, chunk: ChunkName): void {
    const place = placeOf(device, chunk)
    this.#bad.delete(place)
    this.#stored.set(place, this.#now)
    this.#unknownSince.delete(place)
    this.#judged.delete(place)
  }

  removed(device: string, chunk: ChunkName): void {
    const place = placeOf(device, chunk)
    const told = this.#told.get(place)
    if (told === undefined) this.#report("removed-untold", place)
    else if (told < (this.#stored.get(place) ?? 0) && this.#history.wasCommitted(chunk)) {
      this.#report("removed-anew", `${place} came after its deletion was told`)
    }
  }

  asked(device: string, mayTake: boolean): void {
    if (mayTake) this.#closed.delete(device)
  }

  answered(device: string, mayTake: boolean): void {
    if (!mayTake) this.#closed.add(device)
  }

  allotted(chunk: ChunkName, devices: ReadonlyArray<string>): void {
    for (const device of devices) {
      const place = placeOf(device, chunk)
      // A request that is repeated is answered as it was before the device was closed.
      if (this.#allotted.has(place)) continue
      this.#allotted.add(place)
      if (this.#closed.has(device)) this.#report("closed-used", place)
    }
  }

  located(chunk: ChunkName, holders: ReadonlyArray<string>): void {
    const copies = copiesOf(this.#cluster, chunk)
    for (const holder of holders) {
      if (this.#bad.has(placeOf(holder, chunk))) {
        this.#report("located-bad", `${holder} has said that its ${nameOf(chunk)} is bad`)
      }
      if (copies.some(({ device }) => device === holder)) continue
      this.#report("located-wrong", `${holder} does not hold ${nameOf(chunk)}`)
    }
  }
}

/** Judges the orders of the metadata service. */
export const makeOrderOracle = (cluster: SimulatedCluster, history: ChunkHistory): Oracle => {
  const orders = new Orders(cluster, history)
  return {
    watch: {
      heartbeatAnswered: (heartbeat, answer) => orders.told(heartbeat, answer),
      journalRecovered: () => orders.recovered(),
      copyStored: (device, chunk) => orders.stored(device, chunk),
      copyRemoved: (device, chunk) => orders.removed(device, chunk),
      deviceAsked: (device, mayTake) => orders.asked(device, mayTake),
      deviceAnswered: (device, mayTake) => orders.answered(device, mayTake),
      chunkAllotted: ({ chunk, targets }) =>
        orders.allotted(
          chunk,
          targets.map(({ deviceId }) => deviceId)
        ),
      chunkLocated: ({ chunk, holders }) =>
        orders.located(
          chunk,
          holders.map(({ deviceId }) => deviceId)
        )
    },
    step: () => {
      const state = cluster.metadata.service?.state()
      if (state !== undefined) orders.look(state)
    }
  }
}
