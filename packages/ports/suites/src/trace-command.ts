/**
 * One command of a trace, read: a verb, words in their order, and `name=value` settings.
 *
 *     write a b goal=2
 *     ^verb ^ ^words  ^setting
 *
 * 1. What a command names and its language does not ask for is a mistake of the trace: `finish`
 *    says so, so that a misspelt setting never passes unnoticed.
 */

const settingShape = /^([A-Za-z][A-Za-z-]*)=(.*)$/

/** A command that hands out its parts and remembers which were asked for. */
export class TraceCommand {
  readonly verb: string
  private readonly words: Array<string>
  private readonly settings = new Map<string, string>()

  /** Reads a line; its parts are separated by single spaces. */
  constructor(line: string) {
    const [verb = "", ...parts] = line.split(" ")
    this.verb = verb
    this.words = []
    for (const part of parts) {
      const [, name, value] = settingShape.exec(part) ?? []
      if (name === undefined || value === undefined) this.words.push(part)
      else if (this.settings.has(name)) throw new Error(`${name} is set twice`)
      else this.settings.set(name, value)
    }
  }

  /** The next word; `meaning` says what is missing when there is none. */
  word(meaning: string): string {
    const word = this.words.shift()
    if (word === undefined || word === "") throw new Error(`${this.verb} needs ${meaning}`)
    return word
  }

  /** The next word as a number. */
  number(meaning: string): number {
    return numberOf(meaning, this.word(meaning))
  }

  /** All words that are left. */
  rest(): ReadonlyArray<string> {
    return this.words.splice(0)
  }

  /** The value of a setting, or undefined. */
  setting(name: string): string | undefined {
    const value = this.settings.get(name)
    this.settings.delete(name)
    return value
  }

  /** The value of a setting as a number, or undefined. */
  numberSetting(name: string): number | undefined {
    const value = this.setting(name)
    return value === undefined ? undefined : numberOf(name, value)
  }

  /** The parts of a setting that are separated by commas; none when it is not there. */
  listSetting(name: string): ReadonlyArray<string> {
    const value = this.setting(name)
    return value === undefined || value === "" ? [] : value.split(",")
  }

  /** All settings that are left, each a number. */
  numberSettings(): Record<string, number> {
    const all = [...this.settings].map(([name, value]) => [name, numberOf(name, value)] as const)
    this.settings.clear()
    return Object.fromEntries(all)
  }

  /** Fails when something of the command was not asked for. */
  finish(): void {
    const left = [...this.words, ...this.settings.keys()]
    if (left.length > 0) throw new Error(`${this.verb} does not understand ${left.join(", ")}`)
  }
}

const numberOf = (meaning: string, text: string): number => {
  const value = Number(text)
  if (text === "" || !Number.isFinite(value)) throw new Error(`${meaning} is no number: ${text}`)
  return value
}
