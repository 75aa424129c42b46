/**
 * A daemon for the tests: it sends the actions of a script and answers checkpoints by the rules of
 * the KCL, over the pipes that a child has.
 *
 * - A checkpoint is legal from the last one up to the newest record that was delivered; at the
 *   shard's end, no place (or the last one) means the end.
 * - Records at or below the checkpoint are not delivered again.
 * - A checkpoint within `initialize` or after the lease is lost is an InvalidStateException.
 */
import { PassThrough, type Readable, type Writable } from "node:stream"

/** A sequence number: a script's own are small, those of a stream have 56 digits. */
export type SequenceNumber = number | bigint

/** A record as the script names it. */
export interface ScriptRecord {
  readonly sequenceNumber: SequenceNumber
  readonly subSequenceNumber?: number
  readonly data: string | Uint8Array
  readonly partitionKey?: string
}

/** What is stored of a shard. */
export type StoredPlace = Place | "SHARD_END"

/** How a daemon is started. */
export interface DaemonOptions {
  readonly shard?: string
  readonly records: ReadonlyArray<ScriptRecord>
  readonly checkpoint?: StoredPlace
  /** The KCL 1 ends by `shutdown` and names no places at the start. */
  readonly dialect?: "V1" | "V2"
  /** Exceptions for the next checkpoints, one each; none stores it. */
  readonly errors?: ReadonlyArray<string | undefined>
  /** A child that knows no sub-sequence numbers names none; it is a fault of any other. */
  readonly knowsSubSequences?: boolean
  /** The pipes of a child; of one in this process if absent. */
  readonly pipes?: { readonly toChild: Writable; readonly fromChild: Readable }
}

type Place = readonly [sequenceNumber: SequenceNumber, subSequenceNumber: number]

const compare = (one: Place, other: Place): number =>
  one[0] < other[0] ? -1 : one[0] > other[0] ? 1 : one[1] - other[1]

const readNumber = (text: string): SequenceNumber =>
  Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
const placeOf = ({ sequenceNumber, subSequenceNumber = 0 }: ScriptRecord): Place => [
  sequenceNumber,
  subSequenceNumber
]

interface ChildLine {
  readonly action: string
  readonly responseFor?: string
  readonly sequenceNumber?: string | null
  readonly subSequenceNumber?: number | null
  readonly checkpoint?: string | null
}

/** One daemon with one child; see the module comment. */
export class TestDaemon {
  readonly toChild: Writable
  readonly fromChild: Readable
  /** Everything that was said: `>` to the child, `<` from it. */
  readonly transcript: Array<string> = []
  readonly stray: Array<string> = []
  readonly errors: Array<string | undefined>
  checkpoint: StoredPlace | undefined
  private readonly options: DaemonOptions
  private largest: Place | undefined
  private awaited: { readonly action: string; readonly resolve: () => void } | undefined
  private failure: Error | undefined
  private rejectAwaited: ((error: Error) => void) | undefined
  private isEnding = false
  private text = ""

  constructor(options: DaemonOptions) {
    this.options = options
    this.errors = [...(options.errors ?? [])]
    this.checkpoint = options.checkpoint
    this.toChild = options.pipes?.toChild ?? new PassThrough()
    this.fromChild = options.pipes?.fromChild ?? new PassThrough()
    this.fromChild.on("data", (piece: Buffer) => this.take(piece))
  }

  /** The pipes as the child has them, where it runs in this process. */
  get childPipes(): { readonly input: Readable; readonly output: Writable } {
    if (this.toChild instanceof PassThrough && this.fromChild instanceof PassThrough) {
      return { input: this.toChild, output: this.fromChild }
    }
    throw new Error("the child of this daemon has pipes of its own")
  }

  /** Says where the shard goes on. */
  initialize(): Promise<void> {
    const { dialect, shard = "shardId-000000000000" } = this.options
    const [sequenceNumber, subSequenceNumber] =
      this.checkpoint === undefined || this.checkpoint === "SHARD_END"
        ? ["TRIM_HORIZON", 0]
        : [String(this.checkpoint[0]), this.checkpoint[1]]
    return this.act({
      action: "initialize",
      shardId: shard,
      ...(dialect === "V1" ? {} : { sequenceNumber, subSequenceNumber })
    })
  }

  /** Delivers up to so many further records; none is an empty batch. */
  deliver(count: number): Promise<void> {
    const isV1 = this.options.dialect === "V1"
    const from = this.largest ?? (this.checkpoint === "SHARD_END" ? undefined : this.checkpoint)
    const batch = this.options.records
      .filter((record) => from === undefined || compare(placeOf(record), from) > 0)
      .slice(0, count)
    const last = batch.at(-1)
    if (last !== undefined) this.largest = placeOf(last)
    return this.act({
      action: "processRecords",
      ...(isV1 ? {} : { millisBehindLatest: 0 }),
      records: batch.map((record) => ({
        data: Buffer.from(record.data).toString("base64"),
        partitionKey: record.partitionKey ?? "key",
        sequenceNumber: String(record.sequenceNumber),
        ...(isV1
          ? {}
          : {
              action: "record",
              approximateArrivalTimestamp: 1_700_000_000_123,
              subSequenceNumber: record.subSequenceNumber ?? 0
            })
      }))
    })
  }

  /** The last chance for a checkpoint. */
  shutdownRequested(): Promise<void> {
    return this.act({ action: "shutdownRequested" })
  }

  /** The lease is another's. */
  leaseLost(): Promise<void> {
    return this.act(
      this.options.dialect === "V1"
        ? { action: "shutdown", reason: "ZOMBIE" }
        : { action: "leaseLost" }
    )
  }

  /** No record follows. */
  shardEnded(): Promise<void> {
    this.isEnding = true
    return this.act(
      this.options.dialect === "V1"
        ? { action: "shutdown", reason: "TERMINATE" }
        : { action: "shardEnded" }
    )
  }

  /** Closes the child's input. */
  close(): void {
    this.toChild.end()
  }

  /** Sends a line as it is. */
  say(line: string): void {
    this.transcript.push(`> ${line.slice(0, 300)}`)
    this.toChild.write(`${line}\n`)
  }

  /** Sends an action and waits for its status. */
  act(message: { readonly action: string } & Readonly<Record<string, unknown>>): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure)
    const { promise, reject, resolve } = Promise.withResolvers<void>()
    this.awaited = { action: message.action, resolve }
    this.rejectAwaited = reject
    this.say(JSON.stringify(message))
    return promise
  }

  private take(piece: Buffer): void {
    this.text += piece.toString()
    const lines = this.text.split("\n")
    this.text = lines.pop() ?? ""
    for (const line of lines) if (line !== "") this.takeLine(line)
  }

  private takeLine(line: string): void {
    this.transcript.push(`< ${line}`)
    let message: ChildLine
    try {
      message = JSON.parse(line)
    } catch {
      this.stray.push(line)
      return
    }
    if (message.action === "checkpoint") return this.answerCheckpoint(message)
    const { awaited } = this
    if (message.action === "status" && awaited?.action === message.responseFor) {
      this.awaited = undefined
      awaited?.resolve()
      return
    }
    this.failure = new Error(`"${line}" came while ${this.awaited?.action ?? "nothing"} was open`)
    this.rejectAwaited?.(this.failure)
  }

  private answerCheckpoint(message: ChildLine): void {
    const isV1 = this.options.dialect === "V1"
    const sequenceNumber = isV1 ? message.checkpoint : message.sequenceNumber
    const { knowsSubSequences = !isV1 } = this.options
    if (knowsSubSequences && message.subSequenceNumber === undefined) {
      this.failure = new Error(
        `a checkpoint without a sub-sequence number: ${this.transcript.at(-1)}`
      )
    }
    const place: Place | undefined =
      typeof sequenceNumber === "string"
        ? [readNumber(sequenceNumber), message.subSequenceNumber ?? 0]
        : undefined
    const error = this.errors.length > 0 ? this.errors.shift() : this.refusalOf(place)
    if (error === undefined) this.store(place)
    this.say(
      JSON.stringify({
        action: "checkpoint",
        ...(isV1
          ? { checkpoint: sequenceNumber }
          : { sequenceNumber, subSequenceNumber: message.subSequenceNumber }),
        error: error ?? null
      })
    )
  }

  private refusalOf(place: Place | undefined): string | undefined {
    const action = this.awaited?.action
    if (action === undefined || action === "initialize" || action === "leaseLost") {
      return "InvalidStateException"
    }
    if (place === undefined) return undefined
    const last = this.checkpoint
    if (last === "SHARD_END") return "IllegalArgumentException"
    const isLegal =
      this.largest !== undefined &&
      compare(place, this.largest) <= 0 &&
      (last === undefined || compare(last, place) <= 0)
    return isLegal ? undefined : "IllegalArgumentException"
  }

  private store(place: Place | undefined): void {
    const last = this.checkpoint
    if (place !== undefined && last !== undefined && last !== "SHARD_END") {
      // A place that is stored already is passed over in silence, at the shard's end as well.
      if (compare(place, last) === 0) return
    }
    const isLast =
      place === undefined || (this.largest !== undefined && compare(place, this.largest) === 0)
    if (this.isEnding && isLast) this.checkpoint = "SHARD_END"
    else this.checkpoint = place ?? this.largest ?? last
  }
}
