import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { resolveSettings } from "./resolve.ts"
import {
  booleanSetting,
  numberSetting,
  optionalText,
  PlainText,
  requiredList,
  requiredText
} from "./setting.ts"
import type { TypedSettings } from "./setting-flags.ts"
import { showConfiguration } from "./show-configuration.ts"

const table = {
  name: requiredText(PlainText, { description: "A name", variables: ["T_NAME", "OTHER_NAME"] }),
  listenPort: numberSetting({
    description: "A port",
    variables: ["T_PORT"],
    value: 7,
    least: 0,
    most: 100
  }),
  disk: requiredList(PlainText, { description: "Disks", variables: ["T_DISKS"] }),
  format: booleanSetting({ description: "Format", variables: ["T_FORMAT"] }),
  rack: optionalText(PlainText, { description: "A rack" }),
  password: optionalText(PlainText, {
    description: "A secret",
    variables: ["T_PASSWORD"],
    isSecret: true
  })
}

const inFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "holdfast-settings-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const nothingTyped: TypedSettings = {
  name: Option.none(),
  listenPort: Option.none(),
  disk: [],
  format: Option.none(),
  rack: Option.none(),
  password: Option.none()
}

interface Said {
  readonly typed?: TypedSettings
  readonly environment?: Readonly<Record<string, string>>
  readonly file?: string
}

const resolve = ({ environment = {}, file, typed = {} }: Said) =>
  resolveSettings({ table, typed: { ...nothingTyped, ...typed }, environment, file })

const refusal = (said: Said) => Effect.map(Effect.flip(resolve(said)), ({ message }) => message)

const enough = { T_NAME: "n", T_DISKS: "a, b" }

const write = (folder: string, content: unknown, mode = 0o600): string => {
  const file = join(folder, "settings.json")
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content), { mode })
  return file
}

describe("settings", () => {
  it.effect.prop(
    "take the first of flag, environment, file and default, and say which it was",
    {
      flag: Schema.OptionFromNullOr(
        Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))
      ),
      variable: Schema.UndefinedOr(
        Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))
      ),
      inFile: Schema.UndefinedOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 })))
    },
    ({ flag, inFile, variable }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const file = write(yield* inFolder, { "listen-port": inFile })
          const { origins, values } = yield* resolve({
            typed: { listenPort: flag },
            environment: {
              ...enough,
              ...(variable === undefined ? {} : { T_PORT: String(variable) })
            },
            file
          })
          const expected = Option.getOrElse(flag, () => variable ?? inFile ?? 7)
          const origin = Option.isSome(flag)
            ? "flag --listen-port"
            : variable !== undefined
              ? "environment T_PORT"
              : inFile !== undefined
                ? `file ${file}`
                : "default"
          assert.strictEqual(values.listenPort, expected)
          assert.strictEqual(origins.find(({ name }) => name === "listen-port")?.origin, origin)
        })
      )
  )

  it.effect("of every kind come from each source alike", () =>
    Effect.gen(function* () {
      const wanted = { name: "n", listenPort: 9, disk: ["a", "b"], format: true, rack: undefined }
      const file = write(yield* inFolder, {
        name: "n",
        "listen-port": 9,
        disk: ["a", "b"],
        format: true
      })
      const typed = {
        name: Option.some("n"),
        listenPort: Option.some(9),
        disk: ["a", "b"],
        format: Option.some(true)
      }
      const environment = { OTHER_NAME: "n", T_PORT: "9", T_DISKS: "a,b", T_FORMAT: "1" }
      const joined = { ...typed, disk: ["a,b"] }
      for (const said of [{ file }, { typed }, { typed: joined }, { environment }]) {
        const { values } = yield* resolve(said)
        assert.deepStrictEqual({ ...values }, { ...wanted, password: undefined })
      }
    })
  )

  it.effect("refuse an unknown key and name the nearest, or all", () =>
    Effect.gen(function* () {
      const folder = yield* inFolder
      const near = yield* refusal({ file: write(folder, { "listen-prt": 1 }) })
      assert.include(near, 'there is no setting "listen-prt"; did you mean "listen-port"?')
      const far = yield* refusal({ file: write(folder, { quux: 1 }) })
      assert.include(far, "there are name, listen-port, disk, format, rack, password")
    })
  )

  it.effect("say everything that is wrong at once, each with where it was said", () =>
    Effect.gen(function* () {
      const file = write(yield* inFolder, { disk: [], format: "yes" })
      const message = yield* refusal({ environment: { T_PORT: "101" }, file })
      assert.include(message, "name is missing: say it by --name, T_NAME or in a file")
      assert.include(message, "listen-port (environment T_PORT): a whole number from 0 to 100")
      assert.include(message, `disk (file ${file})`)
      assert.include(message, `format (file ${file})`)
    })
  )

  it.effect(
    "refuse a file that is missing, large, no JSON, no object, and quote nothing of it",
    () =>
      Effect.gen(function* () {
        const folder = yield* inFolder
        assert.include(yield* refusal({ file: join(folder, "none") }), "does not exist")
        assert.include(yield* refusal({ file: folder }), "is no file")
        for (const content of [
          "{hush",
          "[1]",
          '"hush"',
          "null",
          `{"a":"${"x".repeat(1_048_577)}"}`
        ]) {
          const message = yield* refusal({ file: write(folder, content) })
          assert.match(message, /is no JSON|must hold one JSON object|is larger than/)
          assert.notInclude(message, "hush")
        }
      })
  )

  it.effect("keep a secret out of flags, readable files, messages and what is shown", () =>
    Effect.gen(function* () {
      const folder = yield* inFolder
      const typed = yield* refusal({
        environment: enough,
        typed: { password: Option.some("hush") }
      })
      assert.include(typed, "shows in every list of processes")
      assert.include(typed, "T_PASSWORD")
      const readable = yield* refusal({
        environment: enough,
        file: write(folder, { password: "hush" }, 0o644)
      })
      assert.include(readable, "chmod 600")
      rmSync(join(folder, "settings.json"))
      const file = write(folder, { password: "hush" })
      const resolved = yield* resolve({ environment: enough, file })
      assert.strictEqual(resolved.values.password, "hush")
      const shown = showConfiguration(resolved)
      assert.match(shown, /password +\(hidden\) +file /)
      rmSync(file)
      const malformed = yield* refusal({
        environment: enough,
        file: write(folder, { password: 1 })
      })
      for (const text of [typed, readable, shown, malformed]) assert.notInclude(text, "hush")
    })
  )

  it("show every setting once, in the order of the table, and hide what a URL carries", () => {
    const names = Object.keys(table)
    const shown = showConfiguration({
      values: {},
      origins: names.map((name) => ({
        name,
        value: "nats://bob:hush@a:1,tls://hush@b",
        origin: "default",
        isSecret: false
      }))
    })
    assert.deepStrictEqual(
      shown.split("\n").map((line) => line.split(" ")[0]),
      names
    )
    assert.notInclude(shown, "hush")
    assert.include(shown, "nats://(hidden)@a:1,tls://(hidden)@b")
  })
})
