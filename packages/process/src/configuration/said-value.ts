/** What a source of settings says, before anything is checked. */

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A value before it is checked, and where it was said. */
export interface SaidValue {
  readonly value: unknown
  readonly origin: string
}
