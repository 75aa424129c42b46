/**
 * The connection of a session: lines from the daemon go into it as they come, and what it has to
 * say goes out, one line after the other, each when the one before was taken.
 *
 *     input ──lines──▶ Session ──nextLine──▶ output: an empty line, then the message
 *
 * 1. Nothing else is ever written to the output. Stray lines from the daemon are logged and passed
 *    over, so many in a session; what cannot be answered ends the session as a fault.
 * 2. When the input ends, the session is over, whatever was under way: the lease is the daemon's.
 */
import type { Readable, Writable } from "node:stream"
import { Signal } from "@holdfast/records"
import { Effect, Result, type Scope } from "effect"
import { LineSplitter } from "./line-splitter.ts"
import { parseLine } from "./messages.ts"
import { Session } from "./session.ts"

/** The two ends of a daemon's pipes, and the limits on what comes in by them. */
export interface ConnectionOptions {
  readonly input: Readable
  readonly output: Writable
  /** Bytes of the longest line; 64 MiB if absent, some five times what the KCL asks Kinesis for. */
  readonly lineBytesMax?: number
  /** Bytes of records that wait for their checkpoint before the daemon must; 64 MiB if absent. */
  readonly retainedBytesMax?: number
}

/** How a session ended. */
export type SessionEnd =
  | { readonly _tag: "InputEnded" }
  | { readonly _tag: "Fault"; readonly message: string }

const defaultBytesMax = 64 * 1024 * 1024
const strayLinesMax = 100

/** A session and its pipes. */
export class Connection {
  readonly changes = new Signal()
  readonly session: Session
  end: SessionEnd | undefined
  private readonly output: Writable
  private readonly splitter: LineSplitter
  private readonly lineBytesMax: number
  private notes: Array<string> = []
  private strayLines = 0
  private version = 0

  constructor(options: ConnectionOptions) {
    this.output = options.output
    this.lineBytesMax = options.lineBytesMax ?? defaultBytesMax
    this.splitter = new LineSplitter({ bytesMax: this.lineBytesMax })
    this.session = new Session({ retainedBytesMax: options.retainedBytesMax ?? defaultBytesMax })
  }

  /** Changes the session, and wakes who waits for that. */
  change(how: (session: Session) => void): void {
    how(this.session)
    this.touch()
  }

  /** Ends the session; the first end counts. */
  finish(end: SessionEnd): void {
    if (this.end !== undefined) return
    this.end = end
    this.session.lose(end._tag === "Fault" ? end.message : "the daemon has closed its end")
    this.touch()
  }

  /** Takes bytes of the daemon in. */
  take(piece: Buffer): void {
    const cut = this.splitter.push(piece)
    if (cut._tag === "TooLong") {
      const message = `the daemon sent a line of more than ${this.lineBytesMax} bytes`
      return this.finish({ _tag: "Fault", message })
    }
    for (const line of cut.lines) if (this.end === undefined) this.takeLine(line)
    this.touch()
  }

  /** Writes what there is to say, until the session ends. */
  readonly speak: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    while (this.end === undefined) {
      const seen = this.version
      const line = this.session.nextLine()
      if (line !== undefined) {
        yield* this.write(`\n${line}\n`)
        // An answered action may be what somebody waits for.
        this.touch()
        continue
      }
      for (const note of this.notes.splice(0)) yield* Effect.logWarning(note)
      yield* this.changes.waitUntil(() => this.version !== seen || this.end !== undefined)
    }
  })

  private takeLine(line: string): void {
    const parsed = parseLine(line)
    if (Result.isSuccess(parsed)) {
      const { repeatedRecords } = this.session
      const fault = this.session.receive(parsed.success)
      const repeated = this.session.repeatedRecords - repeatedRecords
      if (repeated > 0) this.notes.push(`the daemon sent ${repeated} records again`)
      if (fault !== undefined) this.finish({ _tag: "Fault", message: fault })
      return
    }
    const { _tag, message } = parsed.failure
    this.strayLines += 1
    if (_tag === "Invalid" || this.strayLines > strayLinesMax) {
      return this.finish({ _tag: "Fault", message })
    }
    this.notes.push(message)
  }

  private touch(): void {
    this.version += 1
    this.changes.notify()
  }

  private write(text: string): Effect.Effect<void> {
    return Effect.callback((resume) => {
      this.output.write(text, (error) => {
        // Nobody reads on: the daemon is gone, as if it had closed the input.
        if (error !== null && error !== undefined) this.finish({ _tag: "InputEnded" })
        resume(Effect.void)
      })
    })
  }
}

/** Connects to a daemon for as long as the scope is open. */
export const connect = (
  options: ConnectionOptions
): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { input, output } = options
    const connection = new Connection(options)
    const onData = (piece: Buffer | string): void =>
      connection.take(typeof piece === "string" ? Buffer.from(piece) : piece)
    const onEnd = (): void => connection.finish({ _tag: "InputEnded" })
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        input.on("data", onData).on("end", onEnd).on("close", onEnd).on("error", onEnd)
        output.on("error", onEnd)
      }),
      () =>
        Effect.sync(() => {
          input.off("data", onData).off("end", onEnd).off("close", onEnd)
          // The listeners for errors stay: a late one must not end the process by itself.
          input.pause()
        })
    )
    yield* Effect.forkScoped(connection.speak)
    return connection
  })
