/**
 * How a command ends that could not do its work: one sentence and a status, never a stack trace.
 */
import { Cause, Data, Option, Predicate } from "effect"

/** A command could not do its work; `message` says what is wrong and what would be right. */
export class CommandFailure extends Data.TaggedError("CommandFailure")<{
  readonly message: string
}> {}

/** A failure with a sentence. */
export const failure = (message: string): CommandFailure => new CommandFailure({ message })

const hasMessage = (value: unknown): value is { readonly message: string } =>
  Predicate.hasProperty(value, "message") && typeof value.message === "string"

const hasCode = (value: unknown): value is { readonly code: string } =>
  Predicate.hasProperty(value, "code") && typeof value.code === "string"

/**
 * The sentence for an error of any of the services or adapters: its own message, its code behind.
 */
export const sentenceOf = (error: unknown): string => {
  if (!hasMessage(error) || error.message === "") return `unexpected failure: ${String(error)}`
  const sentence = error.message.split("\n").slice(0, 3).join(" ")
  return hasCode(error) ? `${sentence} (${error.code})` : sentence
}

/** The sentence for a whole failed run: the first typed error, else the first defect. */
export const sentenceOfCause = (cause: Cause.Cause<unknown>): string =>
  Option.match(Cause.findErrorOption(cause), {
    onNone: () =>
      Cause.hasInterruptsOnly(cause)
        ? "stopped before it was done"
        : `a defect in holdfast: ${sentenceOf(Cause.squash(cause))}`,
    onSome: sentenceOf
  })
