/**
 * The little language of this core's traces: the metadata service's map, and chunk servers.
 *
 *     settings leaseMs=10000               first of all, where the numbers of the tests do not suit
 *     server h1 a b                        a chunk server with the disks a and b; `epoch=`, `rack=`
 *     ready a b c                          servers ha, hb, hc with a disk each, which have reported
 *     beat h1                              a heartbeat; the server reports and does what it is told
 *     lost-beat h1                         the same, but the answer is lost
 *     rounds 3 step=1000                   heartbeats of all live servers, then a tick, so often
 *     pass 1000                            time, and a tick; `wait` is time without one
 *     report h1 a r1 part=0 last=no 1/0@1  one part of a report
 *     hold h1, carry-out h1 first=1        keeps commands back, then carries them out
 *     stop h1, restart h1, goodbye h1
 *     file
 *     alloc file=1 chunk=0 want=2 min=1 size=100 exclude=a random=0 request=q1
 *     store 1/0@1 a b                      puts copies on disks; `lose` and `rot` harm them
 *     added 1/0@1 h1 a, bad 1/0@1 h1 a     a change for the next heartbeat
 *     publish 1/0@1 on=a,b goal=2 min=1 request=q1
 *     write a b file=1 chunk=0 goal=2      alloc, store and publish at once
 *     abandon 1, free 1/0@1 request=q1, accuse 1/0@1 a, locate 1/0
 *     mode a frozen, blockers a, forget a, safe-mode, safe-mode leave
 *     restart-service without=1            from its journal, less the last entries
 */
import type { TraceCommand, TraceLanguage } from "@holdfast/suites"
import { Result, Schema } from "effect"
import { alloc } from "../alloc.ts"
import { drainBlockers } from "../drain.ts"
import { forgetDevice } from "../forget-device.ts"
import { free } from "../free.ts"
import type { HeartbeatReply } from "../heartbeat.ts"
import type { ChunkCopy, ChunkVersion } from "../identity.ts"
import { locate } from "../locate.ts"
import { setMode } from "../modes.ts"
import type { Allocation } from "../model.ts"
import { mapGet } from "../ordered-map.ts"
import { abandon, publish } from "../publish.ts"
import type { Refusal } from "../refusal.ts"
import { reportBad } from "../report-bad.ts"
import { takeReport } from "../report.ts"
import { setSafeMode, viewSafeMode } from "../safe-mode.ts"
import { Cluster, succeed } from "./cluster.ts"
import { type Disk, nameOf } from "./disks.ts"
import {
  bytesOf,
  describeAlarm,
  describeCommand,
  describeEntry,
  nameOfCopy,
  viewCluster
} from "./trace-view.ts"

/** A fresh cluster without servers. */
export const openLanguage = (): TraceLanguage => {
  const world = new World()
  const verbs = Object.entries(world.verbs).map(([verb, act]) => [
    verb,
    (command: TraceCommand) => world.traced(() => act(command))
  ])
  return { verbs: Object.fromEntries(verbs), view: () => viewCluster(world.cluster) }
}

const DesiredMode = Schema.Literals(["normal", "frozen", "draining", "removed"])
const SafeModeAction = Schema.Literals(["enter", "leave", "force"])

const refused = ({ code, message, retryAfterMs }: Refusal): string =>
  `refused, ${code}: ${message}${retryAfterMs === null ? "" : `; again in ${retryAfterMs} ms`}`

const answer = <A>(
  outcome: Result.Result<A, Refusal>,
  describe: (value: A) => ReadonlyArray<string>
): ReadonlyArray<string> =>
  Result.isFailure(outcome) ? [refused(outcome.failure)] : describe(outcome.success)

type Copies = Map<string, ChunkCopy>

const columnsMax = 88

/** Several short texts to a line. */
const inLines = (texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const text of texts) {
    const last = lines.at(-1)
    const isFull = last === undefined || last.length + text.length > columnsMax
    if (isFull) lines.push(text)
    else lines[lines.length - 1] = `${last}; ${text}`
  }
  return lines
}

const readCopy = (text: string): ChunkVersion => {
  const [, fileId, chunkId, version] = /^(\d+)\/(\d+)(?:@(\d+))?$/.exec(text) ?? []
  if (fileId === undefined) throw new Error(`${text} is not file/chunk@version`)
  return { fileId: Number(fileId), chunkId: Number(chunkId), version: Number(version ?? 0) }
}

class World {
  cluster = new Cluster()

  readonly verbs: TraceLanguage["verbs"] = {
    settings: (command) => {
      this.cluster = new Cluster(command.numberSettings())
      return []
    },
    server: (command) => this.server(command),
    ready: (command) => {
      for (const name of command.rest()) this.cluster.addServer(`h${name}`, name)
      this.cluster.start()
      return [`it is ${this.cluster.now}`]
    },
    beat: (command) => this.beat(command.word("a host")),
    "lost-beat": (command) => this.sign(command.word("a host")).lines,
    goodbye: (command) => this.sign(command.word("a host"), true).lines,
    rounds: (command) => this.rounds(command),
    pass: (command) => {
      this.cluster.pass(command.number("milliseconds"))
      return [`it is ${this.cluster.now}`]
    },
    wait: (command) => {
      this.cluster.now += command.number("milliseconds")
      return [`it is ${this.cluster.now}`]
    },
    report: (command) => this.report(command),
    hold: (command) => {
      this.cluster.server(command.word("a host")).holdCommands = true
      return []
    },
    "carry-out": (command) => {
      const server = this.cluster.server(command.word("a host"))
      const count = command.numberSetting("first") ?? server.held.length
      for (const told of server.held.splice(0, count)) this.cluster.carryOut(server, told)
      server.holdCommands = server.held.length > 0
      return []
    },
    stop: (command) => {
      this.cluster.server(command.word("a host")).alive = false
      return []
    },
    restart: (command) => {
      this.cluster.restartServer(command.word("a host"))
      return []
    },
    file: () => [`file ${this.cluster.file()}`],
    alloc: (command) => this.alloc(command),
    store: (command) => this.onDisks(command, (copies, copy) => copies.set(nameOf(copy), copy)),
    lose: (command) => this.onDisks(command, (copies, copy) => copies.delete(nameOf(copy))),
    rot: (command) =>
      this.onDisks(command, (copies, copy) => copies.set(nameOf(copy), { ...copy, checksum: 1 })),
    added: (command) => this.change(command, "Added"),
    bad: (command) => this.change(command, "Bad"),
    publish: (command) => this.publish(command),
    write: (command) => this.write(command),
    abandon: (command) => {
      const leaseId = command.number("a reservation")
      this.cluster.run((draft) => abandon(draft, { leaseId }))
      return []
    },
    free: (command) => this.free(command),
    accuse: (command) => {
      const chunk = readCopy(command.word("a copy"))
      const deviceId = command.word("a device")
      const outcome = this.cluster.run((draft) => reportBad(draft, { chunk, deviceId }))
      return answer(outcome, ({ asked }) => [asked ? "the device is asked" : "nobody is asked"])
    },
    locate: (command) => this.locate(command),
    mode: (command) => {
      const deviceId = command.word("a device")
      const desired = Schema.decodeUnknownSync(DesiredMode)(command.word("a mode"))
      const outcome = this.cluster.run((draft) => setMode(draft, { deviceId, desired }))
      return answer(outcome, ({ belowGoal }) => [`${belowGoal} chunks are below their goal`])
    },
    blockers: (command) => {
      const deviceId = command.word("a device")
      const wanted = { deviceId, after: null, limit: 100 }
      const outcome = this.cluster.run((draft) => drainBlockers(draft, wanted))
      return answer(outcome, ({ blockers }) =>
        blockers.map((one) => `${nameOfCopy(one)}: ${one.reason}, ${one.sentence}`)
      )
    },
    forget: (command) => {
      const deviceId = command.word("a device")
      const outcome = this.cluster.run((draft) => forgetDevice(draft, { deviceId }))
      return answer(outcome, () => [`${deviceId} is forgotten`])
    },
    "safe-mode": (command) => this.safeMode(command),
    "restart-service": (command) => {
      const { journal } = this.cluster
      journal.length -= command.numberSetting("without") ?? 0
      this.cluster.restartService()
      return [`recovered from ${journal.length} entries`]
    }
  }

  /** Runs a command and adds what it wrote to the journal, and the alarms that it raised. */
  traced(act: () => ReadonlyArray<string>): ReadonlyArray<string> {
    const { alarms, journal } = this.cluster
    const from = { alarms: alarms.length, journal: journal.length }
    const lines = act()
    return [
      ...lines,
      ...inLines(journal.slice(from.journal).map(describeEntry)).map((line) => `journal ${line}`),
      ...alarms.slice(from.alarms).map((alarm) => `alarm ${describeAlarm(alarm)}`)
    ]
  }

  private server(command: TraceCommand): ReadonlyArray<string> {
    const epoch = command.numberSetting("epoch") ?? 1
    const server = this.cluster.addServer(command.word("a host"), ...command.rest())
    for (const disk of server.disks) disk.epoch = epoch
    server.rack = command.setting("rack") ?? ""
    return []
  }

  private sign(hostId: string, goodbye = false) {
    const reply = this.cluster.sign(hostId, goodbye)
    const lines = answer(reply, ({ commands, refused: refusals, reportsWanted }) => [
      ...refusals.map(({ reason }) => `refuses: ${reason}`),
      ...reportsWanted.map(({ deviceId }) => `asks ${deviceId} to report`),
      ...commands.map((one) => `tells ${describeCommand(this.cluster.state, one)}`)
    ])
    return { lines, reply: Result.isSuccess(reply) ? reply.success : undefined }
  }

  private beat(hostId: string): ReadonlyArray<string> {
    const { lines, reply } = this.sign(hostId)
    return reply === undefined ? lines : [...lines, ...this.obey(hostId, reply)]
  }

  private obey(hostId: string, reply: HeartbeatReply): ReadonlyArray<string> {
    const server = this.cluster.server(hostId)
    for (const told of reply.commands) {
      if (server.holdCommands) server.held.push(told)
      else this.cluster.carryOut(server, told)
    }
    return reply.reportsWanted.map(({ deviceId, lease }) => {
      this.cluster.report(hostId, deviceId, lease)
      return `${deviceId} reports ${this.cluster.disk(deviceId).copies.size} copies`
    })
  }

  private rounds(command: TraceCommand): ReadonlyArray<string> {
    const step = command.numberSetting("step") ?? 1_000
    const lines: Array<string> = []
    for (let left = command.number("how many"); left > 0; left -= 1) {
      for (const { alive, hostId } of this.cluster.servers.values()) {
        if (alive) lines.push(...this.beat(hostId))
      }
      this.cluster.pass(step)
    }
    return [...lines, `it is ${this.cluster.now}`]
  }

  private report(command: TraceCommand): ReadonlyArray<string> {
    const hostId = command.word("a host")
    const deviceId = command.word("a device")
    const part = {
      hostId,
      deviceId,
      reportId: command.word("a report"),
      incarnation: this.cluster.server(hostId).incarnation,
      epoch: this.disk(hostId, deviceId).epoch,
      lease: mapGet(this.cluster.state.devices, deviceId)?.report?.lease ?? 0,
      part: command.numberSetting("part") ?? 0,
      last: command.setting("last") !== "no",
      copies: command.rest().map((text) => bytesOf(readCopy(text)))
    }
    const outcome = this.cluster.run((draft) => takeReport(draft, part))
    return answer(outcome, ({ accepted, complete }) => [
      `takes ${accepted} copies, ${complete ? "complete" : "more to come"}`
    ])
  }

  /** A disk of this host; a cloned one bears the name of another. */
  private disk(hostId: string, deviceId: string): Disk {
    const disk = this.cluster.server(hostId).disks.find((one) => one.deviceId === deviceId)
    if (disk === undefined) throw new Error(`${hostId} has no disk ${deviceId}`)
    return disk
  }

  private reserve(command: TraceCommand): Result.Result<Allocation, Refusal> {
    const wanted = {
      requestId: command.setting("request") ?? null,
      random: command.numberSetting("random") ?? 0,
      fileId: command.numberSetting("file") ?? 1,
      chunkId: command.numberSetting("chunk") ?? null,
      size: command.numberSetting("size") ?? 100,
      want: command.numberSetting("want") ?? 2,
      min: command.numberSetting("min") ?? 1,
      exclude: command.listSetting("exclude")
    }
    return this.cluster.run((draft) => alloc(draft, wanted))
  }

  private alloc(command: TraceCommand): ReadonlyArray<string> {
    return answer(this.reserve(command), (one) => [
      `reserves ${nameOfCopy(one)} on ${one.devices.join(" ")}`
    ])
  }

  private onDisks(
    command: TraceCommand,
    act: (copies: Copies, copy: ChunkCopy) => void
  ): ReadonlyArray<string> {
    const copy = bytesOf(readCopy(command.word("a copy")))
    for (const name of command.rest()) act(this.cluster.disk(name).copies, copy)
    return []
  }

  private change(command: TraceCommand, kind: "Added" | "Bad"): ReadonlyArray<string> {
    const chunk = bytesOf(readCopy(command.word("a copy")))
    const server = this.cluster.server(command.word("a host"))
    const deviceId = command.word("a device")
    const { epoch } = this.disk(server.hostId, deviceId)
    server.changes.push({ _tag: kind, deviceId, epoch, chunk })
    return []
  }

  private commit(
    copy: ChunkVersion,
    devices: ReadonlyArray<string>,
    command: TraceCommand
  ): ReadonlyArray<string> {
    const chunk = bytesOf(copy)
    const committed = {
      requestId: command.setting("request") ?? null,
      leaseId: command.numberSetting("lease") ?? copy.version,
      chunk,
      goal: command.numberSetting("goal") ?? devices.length,
      min: command.numberSetting("min") ?? 1,
      receipts: devices.map((deviceId) => this.cluster.receipt(deviceId, chunk))
    }
    const outcome = this.cluster.run((draft) => publish(draft, committed))
    return answer(outcome, ({ copies, devices: judged }) => [
      `${nameOfCopy(copy)} is committed with ${copies} copies`,
      ...judged
        .filter(({ status }) => status !== "counted")
        .map(({ deviceId, status }) => `${deviceId} does not count: ${status}`)
    ])
  }

  private publish(command: TraceCommand): ReadonlyArray<string> {
    const copy = readCopy(command.word("a copy"))
    return this.commit(copy, command.listSetting("on"), command)
  }

  private write(command: TraceCommand): ReadonlyArray<string> {
    const devices = command.rest()
    const allocation = succeed(this.reserve(command))
    for (const device of devices) this.cluster.store(device, bytesOf(allocation))
    return this.commit(allocation, devices, command)
  }

  private free(command: TraceCommand): ReadonlyArray<string> {
    const requestId = command.setting("request") ?? null
    const chunks = command.rest().map(readCopy)
    const outcome = this.cluster.run((draft) => free(draft, { requestId, chunks }))
    return answer(outcome, (results) =>
      results.map((result, index) => `${nameOfCopy(chunks[index] ?? readCopy("0/0"))}: ${result}`)
    )
  }

  private locate(command: TraceCommand): ReadonlyArray<string> {
    const where = this.cluster.run((draft) => locate(draft, readCopy(command.word("a chunk"))))
    if (where._tag === "NoSuchChunk") return [where._tag]
    const holders = where._tag === "Found" ? ` on ${where.holders.join(" ")}` : ""
    return [`${where._tag} ${nameOfCopy(where.record)}${holders}`]
  }

  private safeMode(command: TraceCommand): ReadonlyArray<string> {
    const [wanted] = command.rest()
    if (wanted !== undefined) {
      const action = Schema.decodeUnknownSync(SafeModeAction)(wanted)
      const outcome = this.cluster.run((draft) => setSafeMode(draft, { action }))
      if (Result.isFailure(outcome)) return [refused(outcome.failure)]
    }
    return [this.cluster.run(viewSafeMode).tip]
  }
}
