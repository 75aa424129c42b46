/** Alarms of the chunk map as log lines, one a minute for each kind and subject. */
import type { Alarm } from "@holdfast/chunk-map"
import { Effect } from "effect"

const QUIET_MS = 60_000
const SUBJECTS_MAX = 10_000

/** When each kind of alarm was last said of each subject, and how many were held back. */
export interface AlarmLog {
  readonly last: Map<string, number>
  held: number
}

/** Says alarms that were not said lately. */
export const reportAlarms = (
  log: AlarmLog,
  alarms: ReadonlyArray<Alarm>,
  now: number
): Effect.Effect<void> =>
  alarms.length === 0
    ? Effect.void
    : Effect.forEach(alarms, (alarm) => say(log, alarm, now), { discard: true })

const say = (log: AlarmLog, alarm: Alarm, now: number): Effect.Effect<void> => {
  const name = `${alarm.kind} ${alarm.subject}`
  const last = log.last.get(name)
  if (last !== undefined && now - last < QUIET_MS) {
    log.held++
    return Effect.void
  }
  if (log.last.size >= SUBJECTS_MAX) log.last.clear()
  log.last.set(name, now)
  const held = log.held === 0 ? "" : ` (${log.held} alarms were held back)`
  log.held = 0
  return Effect.logWarning(`${alarm.kind}: ${alarm.message}${held}`)
}
