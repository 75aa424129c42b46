/**
 * One session with a daemon: what it has said, what may be said to it, and what must wait. It holds
 * the rules of the protocol, and neither waits nor writes.
 *
 *     receive ──▶ [ open action ] ──nextLine──▶ checkpoint, then status
 *                       ▲
 *       request, forget, markDrained
 *
 * 1. One action is open at a time, and answered once. A checkpoint is asked for only while one is
 *    open that allows it, and no status goes out before the reply has come.
 * 2. The status of `processRecords` waits for room; of `shutdownRequested`, until everything is
 *    flushed; of the shard's end, until that is checkpointed.
 * 3. After the lease is lost nothing is asked for; every action is answered at once.
 * 4. A checkpoint never passes what the caller said is finished: none is asked for without a place,
 *    but for the end of a shard of which everything is finished.
 * 5. What the daemon must not say at its moment is a fault; after one, nothing is answered.
 */
import { checkpointLine, type DaemonMessage, type Dialect, statusLine } from "./messages.ts"
import { placeOf } from "./position.ts"
import { RetainedRecords } from "./retained-records.ts"

/** What a checkpoint is asked for: a position, or the end of the shard. */
export type CheckpointTarget =
  | { readonly _tag: "At"; readonly position: bigint }
  | { readonly _tag: "End" }

/** A checkpoint that is asked for. */
export interface CheckpointRequest {
  /** Becomes the end where everything is finished by the time that it is sent. */
  target: CheckpointTarget
  state: "queued" | "sent" | "replied"
  /** The exception that the reply named. */
  error: string | undefined
}

type Action = Exclude<DaemonMessage, { readonly _tag: "CheckpointReply" }>

/** Where a session stands; see the module comment. */
export class Session {
  readonly retained = new RetainedRecords()
  private readonly retainedBytesMax: number
  private dialect: Dialect = "V1"
  private open: Action | undefined
  private request: CheckpointRequest | undefined
  private endIsStored = false
  private isDrained = false
  /** The shard, and where it goes on; none before the daemon has said so. */
  shard: { readonly shard: string; readonly after: bigint | undefined } | undefined
  /** Why nothing may be written any more. */
  lostReason: string | undefined
  /** No record will follow. */
  isEnding = false
  isShutdownRequested = false
  /** The caller leaves: without an open action, no checkpoint can be waited for. */
  isClosing = false
  /** Everything up to here is finished, as the caller says. */
  finished: bigint | undefined
  /** Records that came again, and were passed over. */
  repeatedRecords = 0

  constructor(options: { readonly retainedBytesMax: number }) {
    this.retainedBytesMax = options.retainedBytesMax
  }

  /** Takes a message in; answers what is wrong with it, if anything. */
  receive(message: DaemonMessage): string | undefined {
    if (message._tag === "CheckpointReply") return this.receiveReply(message)
    if (this.open !== undefined) {
      return `"${message.responseFor}" came before "${this.open.responseFor}" was answered`
    }
    if ((message._tag === "Initialize") !== (this.shard === undefined)) {
      return `"${message.responseFor}" came ${this.shard === undefined ? "before" : "after"} "initialize"`
    }
    this.open = message
    switch (message._tag) {
      case "Initialize":
        this.dialect = message.dialect
        this.shard = { shard: message.shard, after: message.after }
        this.finished = message.after
        return undefined
      case "ProcessRecords":
        if (message.dialect === "V2") this.dialect = "V2"
        if (this.lostReason === undefined) {
          this.repeatedRecords += this.retained.push(message.records)
        }
        return undefined
      case "LeaseLost":
        this.lose("the daemon has lost the lease")
        return undefined
      case "ShardEnded":
        this.isEnding = true
        return undefined
      case "ShutdownRequested":
        this.isShutdownRequested = true
        return undefined
    }
  }

  /** Ends writing for good; the first reason is the one that is kept. */
  lose(reason: string): void {
    this.lostReason ??= reason
  }

  /** Lets go of records that are checkpointed. */
  forget(upTo: bigint): void {
    this.retained.forget(upTo)
  }

  /** Says that everything which could be finished before the end is, and checkpointed. */
  markDrained(): void {
    this.isDrained = true
  }

  /** Whether a checkpoint can be asked for: one at a time. */
  get mayRequest(): boolean {
    return this.request === undefined
  }

  /** Asks for a checkpoint, to be sent as soon as that is allowed. */
  ask(target: CheckpointTarget): CheckpointRequest {
    const request: CheckpointRequest = { target, state: "queued", error: undefined }
    this.request = request
    return request
  }

  /** Gives a request up; one that was sent is still waited for. */
  withdraw(request: CheckpointRequest): void {
    if (this.request === request && request.state === "queued") this.request = undefined
  }

  /** Whether an action is open in which a checkpoint may be asked for. */
  get allowsCheckpoints(): boolean {
    switch (this.open?._tag) {
      case "ProcessRecords":
      case "ShardEnded":
      case "ShutdownRequested":
        return this.lostReason === undefined
      case "Initialize":
      case "LeaseLost":
      case undefined:
        return false
    }
  }

  /** Whether all that is left of the shard is to checkpoint its end. */
  get awaitsEnd(): boolean {
    const { newest } = this.retained
    const isFinished = newest === undefined || newest === this.finished
    return (
      this.open?._tag === "ShardEnded" && this.allowsCheckpoints && isFinished && !this.endIsStored
    )
  }

  /** What to write now; none when the daemon, or the caller, has the next word. */
  nextLine(): string | undefined {
    const { open, request } = this
    if (open === undefined || request?.state === "sent") return undefined
    if (request?.state === "queued" && this.allowsCheckpoints) {
      if (this.awaitsEnd) request.target = { _tag: "End" }
      request.state = "sent"
      const { target } = request
      return checkpointLine(
        this.dialect,
        target._tag === "End" ? undefined : placeOf(target.position)
      )
    }
    if (!this.mayAnswer(open)) return undefined
    this.open = undefined
    return statusLine(open.responseFor)
  }

  private mayAnswer({ _tag }: Action): boolean {
    if (this.lostReason !== undefined) return true
    switch (_tag) {
      case "Initialize":
      case "LeaseLost":
        return true
      case "ProcessRecords":
        return this.retained.bytes <= this.retainedBytesMax
      case "ShardEnded":
        return this.endIsStored
      case "ShutdownRequested":
        return this.isDrained
    }
  }

  private receiveReply({
    error,
    sequenceNumber
  }: Extract<DaemonMessage, { readonly _tag: "CheckpointReply" }>): string | undefined {
    const { request } = this
    if (request?.state !== "sent") return "a reply came to a checkpoint that was not asked for"
    const { target } = request
    const asked = target._tag === "End" ? undefined : placeOf(target.position).sequenceNumber
    if (asked !== undefined && sequenceNumber !== undefined && sequenceNumber !== asked) {
      return `the checkpoint at ${asked} was asked for, and the reply is about ${sequenceNumber}`
    }
    request.error = error
    request.state = "replied"
    this.request = undefined
    if (error === undefined && target._tag === "End") this.endIsStored = true
    return undefined
  }
}
