/**
 * The projection as a module: what can be said of it in JSON. A record's payload is the event; its
 * partition is named by the subject, a token of it, a header, or a value of the payload.
 */
import { drawnNames, makeTagDrawer, parseTagRule } from "@holdfast/catalogue"
import { cataloguePlatform, PeerClient } from "@holdfast/client"
import type { SourceRecord } from "@holdfast/records"
import { definePipeline } from "@holdfast/service-worker"
import { PeerOperations } from "@holdfast/wire"
import { Effect, Result, Schema } from "effect"
import { partitionKeyOf, type ProjectedEvent, projectionLayer } from "./projection.ts"

const keyTag = "key"
const wholeSubject = "subject"

/** The rule that draws a record's key; none for the whole subject. */
const ruleOf = (where: string) =>
  where === wholeSubject ? Result.succeed(undefined) : parseTagRule(`${keyTag}=${where}`)

const atLeastOne = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

/** What names a record's partition. */
const KeySource = Schema.String.check(
  Schema.makeFilter(
    (where) =>
      Result.isSuccess(ruleOf(where)) ||
      'one of "subject", "subject:1", "header:Order-Id" or "json:order.id"'
  )
)

/** The options of the projection. */
export const ProjectionSettings = Schema.Struct({
  application: PeerOperations.ApplicationName,
  key: KeySource,
  /** What a record without a key means: a failed attempt, or nothing at all. */
  withoutKey: Schema.Literals(["fail", "skip"]).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("fail" as const))
  ),
  writeConcern: Schema.optionalKey(PeerOperations.WriteConcern),
  concurrency: Schema.optionalKey(atLeastOne(1_024)),
  unconfirmedMax: Schema.optionalKey(atLeastOne(64))
})
/** The options of the projection. */
export type ProjectionSettings = typeof ProjectionSettings.Type

const decoder = new TextDecoder("utf-8", { fatal: true })

/** What a record means under these settings; throws where it has no key or no JSON. */
export const projectionOf = ({
  application,
  key,
  withoutKey
}: ProjectionSettings): ((record: SourceRecord) => ReadonlyArray<ProjectedEvent>) => {
  const rule = Result.getOrThrow(ruleOf(key))
  const rules = rule === undefined ? [] : [rule]
  const draw = makeTagDrawer(rules, cataloguePlatform)
  const [name] = rule === undefined ? drawnNames([]) : [keyTag]
  return (record) => {
    const keys = draw(record).filter((tag) => tag.name === name)
    if (keys.length === 0) {
      if (withoutKey === "skip") return []
      throw new Error(`the record has nothing at "${key}" that could name its partition`)
    }
    const event: unknown = JSON.parse(decoder.decode(record.data))
    return keys.map(({ value }) => ({ key: partitionKeyOf(application, value), event }))
  }
}

/** The projection, as `worker --pipeline projection` runs it. */
export const projectionModule = definePipeline<ProjectionSettings, never, PeerClient>({
  name: "projection",
  options: ProjectionSettings,
  layer: (settings, { group }) => {
    const { application, concurrency, unconfirmedMax, writeConcern } = settings
    return projectionLayer({
      application,
      source: group,
      project: projectionOf(settings),
      writeConcern,
      concurrency,
      unconfirmedMax
    })
  }
})
