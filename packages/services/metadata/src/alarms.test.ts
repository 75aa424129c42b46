import { assert, describe, it } from "@effect/vitest"
import type { Alarm } from "@holdfast/chunk-map"
import { Effect, Logger } from "effect"
import { reportAlarms, type AlarmLog } from "./alarms.ts"

const bad = (deviceId: string): Alarm => ({
  kind: "corrupt-copy",
  subject: deviceId,
  message: `device ${deviceId} found its 1/0 corrupt`
})

describe("alarms in the log", () => {
  it.effect("metadata-B33: a flood is one line a minute, and says how many it stands for", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const capture = Logger.make<unknown, void>(({ message }) => {
        lines.push(String(message))
      })
      const log: AlarmLog = { last: new Map(), held: 0 }
      yield* Effect.gen(function* () {
        for (let second = 0; second < 60; second++) {
          yield* reportAlarms(
            log,
            Array.from({ length: 26 }, () => bad("a")),
            second * 1_000
          )
        }
        yield* reportAlarms(log, [bad("b")], 59_999)
        yield* reportAlarms(log, [bad("a")], 60_000)
      }).pipe(Effect.provide(Logger.layer([capture])))
      assert.deepStrictEqual(lines, [
        "corrupt-copy: device a found its 1/0 corrupt",
        "corrupt-copy: device b found its 1/0 corrupt (1559 alarms were held back)",
        "corrupt-copy: device a found its 1/0 corrupt"
      ])
    })
  )
})
