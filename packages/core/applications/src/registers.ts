/**
 * A map of registers: names with JSON values. Of two writes to one name the later in the order that
 * all peers agree on stays; each answers the value before it. Every name is a tag.
 */
import { Schema } from "effect"

const Name = Schema.String.check(
  Schema.isPattern(/^[ -~]{1,120}$/, { expected: "1 to 120 printable ASCII characters" })
)

/** The most names in one map. */
export const registersMax = 1_000

/** What can happen to a map of registers. */
export const RegistersEvent = Schema.TaggedUnion({
  Set: { name: Name, value: Schema.Unknown },
  Remove: { name: Name }
})

/** What an event answers: the value before it, null for none; or that there is no room. */
export const RegistersOutput = Schema.TaggedUnion({
  Before: { value: Schema.Unknown },
  Full: { most: Schema.Int }
})

/** The registers by their names. */
export const RegistersState = Schema.Record(Schema.String, Schema.Unknown)

type State = typeof RegistersState.Type

/** Names are plain ASCII, so that a tag is a byte for each character. */
const tagOf = (name: string): Uint8Array =>
  Uint8Array.from(name, (character) => character.charCodeAt(0))

const without = (state: State, name: string): State =>
  Object.fromEntries(Object.entries(state).filter(([each]) => each !== name))

/** Sets and removes registers. */
export const registers = {
  name: "registers",
  version: 1,
  Event: RegistersEvent,
  Output: RegistersOutput,
  State: RegistersState,
  initial: {} satisfies State,
  apply: (
    event: typeof RegistersEvent.Type,
    state: State
  ): { readonly output: typeof RegistersOutput.Type; readonly state: State } => {
    const isThere = Object.hasOwn(state, event.name)
    const output = { _tag: "Before", value: isThere ? state[event.name] : null } as const
    switch (event._tag) {
      case "Remove":
        return { output, state: isThere ? without(state, event.name) : state }
      case "Set":
        return isThere || Object.keys(state).length < registersMax
          ? { output, state: { ...state, [event.name]: event.value } }
          : { output: { _tag: "Full", most: registersMax }, state }
    }
  },
  index: (state: State): ReadonlyArray<Uint8Array> => Object.keys(state).map(tagOf)
}
