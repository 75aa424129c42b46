/**
 * A pipeline of one's own, as a module: each record becomes a line in the file of its subject.
 *
 *     holdfast worker --nats nats://127.0.0.1:4222 --id w1 --stream ORDERS \
 *       --pipeline examples/lines-by-subject.ts --options '{"directory": "/var/log/orders"}'
 *
 * A line is on the disk before its record counts as done. After a crash records come again from the
 * checkpoint on: a line may stand twice then, and is never missing.
 */
import { open } from "node:fs/promises"
import { join } from "node:path"
import { defaultStage, definePipeline, stagePipeline } from "@holdfast/service-worker"
import { Schema } from "effect"

const Options = Schema.Struct({
  directory: Schema.String,
  ending: Schema.optionalKey(Schema.Literals([".log", ".txt"]))
})
const decoder = new TextDecoder()

const appendLine = async (path: string, line: string): Promise<void> => {
  const file = await open(path, "a")
  try {
    await file.write(`${line}\n`)
    await file.datasync()
  } finally {
    await file.close()
  }
}

export default definePipeline({
  name: "lines",
  options: Options,
  layer: ({ directory, ending = ".log" }) =>
    stagePipeline({
      ...defaultStage,
      extract: ({ data, subject }) => [
        { name: decoder.decode(subject), line: decoder.decode(data) }
      ],
      ordering: { _tag: "ByKey", keyOf: ({ name }) => name },
      process: ({ item }) => appendLine(join(directory, `${item.name}${ending}`), item.line)
    })
})
