/**
 * Small values under names, each with a revision, written by compare-and-set.
 *
 *     name -> checksum, revision (8), value
 *
 * 1. A write takes place only if the stored revision is the expected one; the comparison and the
 *    write are one transaction, also against other processes.
 * 2. The revisions of a name strictly increase.
 */
import { Effect, Option } from "effect"
import type { Environment, Table } from "./environment.ts"
import { openValue, sealValue } from "./sealed-value.ts"
import { StoreRefused } from "./store-refused.ts"

/** Bytes of the longest name. */
const NAME_BYTES_MAX = 255
const REVISION_BYTES = 8
const ITEM_BYTES = 128

/** A value and the revision that the next write must name. */
export interface Cell {
  readonly name: string
  readonly revision: bigint
  readonly value: Uint8Array
}

/** What a write came to: its revision, or the one that stood there instead of the expected one. */
export type CellWritten =
  | { readonly _tag: "Written"; readonly revision: bigint }
  | { readonly _tag: "Conflict"; readonly stored: Option.Option<bigint> }

/** A table of cells. */
export interface Cells {
  readonly get: (name: string) => Effect.Effect<Option.Option<Cell>, StoreRefused>
  readonly all: Effect.Effect<ReadonlyArray<Cell>, StoreRefused>
  readonly write: (options: {
    readonly name: string
    readonly value: Uint8Array
    readonly expected: Option.Option<bigint>
  }) => Effect.Effect<CellWritten, StoreRefused>
}

const corruptCell = (environment: Environment, name: string): StoreRefused =>
  new StoreRefused({
    code: "corrupt",
    message: `${environment.directory}: the checksum of "${name}" is wrong.`
  })

const cellOf = (environment: Environment, key: Buffer, sealed: Buffer): Cell => {
  const name = key.toString("utf8")
  const bytes = openValue(key, sealed)
  if (bytes === undefined || bytes.length < REVISION_BYTES) throw corruptCell(environment, name)
  const revision = Buffer.from(bytes).readBigUInt64BE(0)
  return { name, revision, value: new Uint8Array(bytes.subarray(REVISION_BYTES)) }
}

const keyOf = (name: string): Effect.Effect<Buffer, StoreRefused> => {
  const key = Buffer.from(name, "utf8")
  if (key.length > 0 && key.length <= NAME_BYTES_MAX) return Effect.succeed(key)
  const message = `A name of ${key.length} bytes is not possible; 1 to ${NAME_BYTES_MAX} are.`
  return Effect.fail(new StoreRefused({ code: "too-large", message }))
}

const writeCell = (
  environment: Environment,
  table: Table,
  options: {
    readonly key: Buffer
    readonly value: Uint8Array
    readonly expected: Option.Option<bigint>
  }
): CellWritten => {
  const { expected, key, value } = options
  const sealed = table.get(key)
  const stored = sealed === undefined ? undefined : cellOf(environment, key, sealed).revision
  if (stored !== Option.getOrUndefined(expected)) {
    return { _tag: "Conflict", stored: Option.fromUndefinedOr(stored) }
  }
  const revision = (stored ?? 0n) + 1n
  const bytes = Buffer.allocUnsafe(REVISION_BYTES + value.length)
  bytes.writeBigUInt64BE(revision, 0)
  bytes.set(value, REVISION_BYTES)
  table.putSync(key, sealValue(key, bytes))
  return { _tag: "Written", revision }
}

/** The cells of a table. */
export const makeCells = (environment: Environment, table: Table): Cells => ({
  get: (name) =>
    Effect.flatMap(keyOf(name), (key) =>
      environment.read(() =>
        Option.map(Option.fromUndefinedOr(table.get(key)), (sealed) =>
          cellOf(environment, key, sealed)
        )
      )
    ),
  all: environment.read(() =>
    Array.from(table.getRange({}), ({ key, value }) => cellOf(environment, key, value))
  ),
  write: ({ expected, name, value }) =>
    Effect.flatMap(keyOf(name), (key) =>
      environment.commit({
        bytes: value.length + ITEM_BYTES,
        run: () => writeCell(environment, table, { key, value, expected })
      })
    )
})
