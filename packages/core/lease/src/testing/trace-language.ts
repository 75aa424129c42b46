/**
 * The little language of this core's traces: workers on one store of claims.
 *
 *     shards a b                the shards that there are
 *     worker w1 rate= offset=   a worker, with a monotonic clock of its own
 *     pass 200                  milliseconds of real time
 *     look w1                   lists the claims and decides
 *     act w1                    carries out what it decided first
 *     turn w1                   looks, acts until nothing is left, releases what has drained
 *     release w1                releases what has drained
 *     crash w1, start w1
 */
import type { TraceCommand, TraceLanguage, TraceView } from "@holdfast/suites"
import { Option } from "effect"
import type { Claim } from "../claim.ts"
import type { LeaseAction } from "../decide.ts"
import { Store, Worker } from "./cluster.ts"

/** A fresh world of workers. */
export const openLanguage = (): TraceLanguage => {
  const world = new World()
  return { verbs: world.verbs, view: () => world.view() }
}

const nobody = "nobody"

const describeClaim = ({ beat, epoch, owner, wantedBy }: Claim): string => {
  const mark = Option.match(wantedBy, { onNone: () => "", onSome: (by) => `, wanted by ${by}` })
  return `${Option.getOrElse(owner, () => nobody)} epoch ${epoch} beat ${beat}${mark}`
}

const describeAction = (action: LeaseAction): string => {
  switch (action._tag) {
    case "Claim":
    case "Renew":
    case "Ask":
      return `${action._tag} ${action.claim.shard}: ${describeClaim(action.claim)}`
    case "HandOff":
      return `HandOff ${action.shard} to ${Option.getOrElse(action.to, () => nobody)}`
    case "Lost":
      return `Lost ${action.shard}`
  }
}

class World {
  private readonly store = new Store()
  private readonly workers = new Map<string, Worker>()
  private shards: ReadonlyArray<string> = []
  private now = 0

  readonly verbs: TraceLanguage["verbs"] = {
    shards: (command) => {
      this.shards = command.rest()
      return []
    },
    worker: (command) => {
      const name = command.word("a name")
      const rate = command.numberSetting("rate") ?? 1
      const offset = command.numberSetting("offset") ?? 0
      this.workers.set(name, new Worker({ name, rate, offset, store: this.store }))
      return []
    },
    pass: (command) => {
      this.now += command.number("milliseconds")
      return []
    },
    look: (command) => this.look(this.worker(command)),
    act: (command) => this.act(this.worker(command)),
    release: (command) => {
      this.worker(command).release()
      return []
    },
    turn: (command) => this.turn(this.worker(command)),
    crash: (command) => {
      this.worker(command).crash()
      return []
    },
    start: (command) => {
      this.worker(command).isUp = true
      return []
    }
  }

  /** The time, the claims, and who acts for which shard as he believes. */
  view(): TraceView {
    const lines = new Map([["time", `${this.now}`]])
    for (const { record } of this.store.list()) {
      lines.set(`claim ${record.shard}`, describeClaim(record))
    }
    for (const worker of this.workers.values()) {
      for (const shard of this.shards) {
        if (!worker.believes(shard, this.now)) continue
        const isDraining = worker.held.get(shard)?.isDraining === true
        lines.set(`${worker.name} acts for ${shard}`, isDraining ? "yes, and drains it" : "yes")
      }
    }
    if (this.store.violations.length > 0) throw new Error(this.store.violations.join("; "))
    return lines
  }

  private worker(command: TraceCommand): Worker {
    const name = command.word("a worker")
    const worker = this.workers.get(name)
    if (worker === undefined) throw new Error(`there is no worker ${name}`)
    return worker
  }

  private look(worker: Worker): ReadonlyArray<string> {
    worker.look(this.now, this.shards)
    return worker.pending.map((action) => `decides ${describeAction(action)}`)
  }

  private act(worker: Worker): ReadonlyArray<string> {
    const action = worker.pending[0]
    if (action === undefined) return ["has nothing to do"]
    const { revision } = this.store
    worker.act(this.now)
    const isWrite = action._tag === "Claim" || action._tag === "Renew" || action._tag === "Ask"
    const isRefused = isWrite && this.store.revision === revision
    return isRefused ? [`refused ${describeAction(action)}`] : [`does ${describeAction(action)}`]
  }

  private turn(worker: Worker): ReadonlyArray<string> {
    const lines = [...this.look(worker)]
    while (worker.pending.length > 0) {
      lines.push(...this.act(worker).filter((line) => line.startsWith("refused")))
    }
    worker.release()
    return lines
  }
}
