/**
 * Recognises stored forms quickly. The schemas `EncodedState` and `EncodedDiff` say what is right;
 * this says the same, by hand, because one is read with every message between peers and the
 * schema's own decoder takes twenty times as long. A test compares the two.
 */
import type { EncodedDiff } from "./encoded-diff.ts"
import { DIFF_FORMAT } from "./encoded-diff.ts"
import type { EncodedState } from "./encoded-state.ts"
import { STATE_FORMAT } from "./encoded-state.ts"

type Check = (value: unknown) => boolean

const isNatural: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const isOrdinal: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 1
const isText: Check = (value) => typeof value === "string" && value.length > 0
const isAnything: Check = () => true

const field = (value: object, name: string): unknown => Reflect.get(value, name)

/** An object that has these fields, each as its check wants. */
const isRecord = (value: unknown, checks: ReadonlyArray<readonly [string, Check]>): boolean =>
  typeof value === "object" &&
  value !== null &&
  checks.every(([name, check]) => Object.hasOwn(value, name) && check(field(value, name)))

const isAbsentOr = (value: unknown, name: string, check: Check): boolean =>
  typeof value !== "object" ||
  value === null ||
  !Object.hasOwn(value, name) ||
  check(field(value, name))

/** A list of just these. */
const isTuple = (value: unknown, checks: ReadonlyArray<Check>): boolean =>
  Array.isArray(value) &&
  value.length === checks.length &&
  checks.every((check, index) => check(value[index]))

const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every((item) => check(item))

const tupleOf =
  (...checks: ReadonlyArray<Check>): Check =>
  (value) =>
    isTuple(value, checks)

const PEER = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/
const DIGEST = /^[0-9a-f]{16}$/

const isPeer: Check = (value) => typeof value === "string" && PEER.test(value)
const isDigest: Check = (value) => typeof value === "string" && DIGEST.test(value)
const isRequestOrNull: Check = (value) => value === null || isText(value)
const isId: Check = (value) => value === null || isTuple(value, [isOrdinal, isNatural])
const isReason: Check = (value) => value === "left" || value === "ejected"
const isAuthority: Check = (value) => value === "majority" || value === "cluster"
const isPair = tupleOf(isNatural, isNatural)

const isEntry: Check = (value) => {
  const kind: unknown = Array.isArray(value) ? value[2] : undefined
  if (kind === "event") {
    return isTuple(value, [isOrdinal, isNatural, isText, isAnything, isRequestOrNull])
  }
  if (kind === "join") {
    return isTuple(value, [isOrdinal, isNatural, isText, isNatural, isNatural])
  }
  if (kind === "eject") return isTuple(value, [isOrdinal, isNatural, isText, isNatural])
  return kind === "leave" && isTuple(value, [isOrdinal, isNatural, isText])
}

const isOrigin: Check = (value) =>
  isRecord(value, [
    ["key", isText],
    ["epoch", isNatural],
    ["lineage", isNatural]
  ])

const isInfimum: Check = (value) =>
  isRecord(value, [
    ["id", isId],
    ["count", isNatural],
    ["value", isAnything],
    ["members", listOf(isPair)],
    ["departed", listOf(tupleOf(isNatural, isNatural, isReason))],
    ["digest", isDigest],
    ["requests", listOf(tupleOf(isText, isAnything))]
  ])

/** Whether this is a stored form of the format that is written now. */
export const isEncodedState = (value: unknown): value is EncodedState =>
  isAbsentOr(value, "provisional", (provisional) => provisional === true) &&
  isRecord(value, [
    ["format", (format) => format === STATE_FORMAT],
    ["origin", isOrigin],
    ["requestWindow", isNatural],
    ["authority", isAuthority],
    ["participants", listOf(tupleOf(isPeer, isNatural))],
    ["infimum", isInfimum],
    ["entries", listOf(isEntry)],
    ["seals", listOf(isPair)],
    ["held", listOf(tupleOf(isNatural, isNatural, listOf(isNatural)))]
  ])

const isMark: Check = (value) =>
  isRecord(value, [
    ["id", isId],
    ["count", isNatural],
    ["digest", isDigest]
  ])

const isPending: Check = (value) =>
  isRecord(value, [
    ["count", isNatural],
    ["digest", isDigest]
  ])

/** Whether this is a diff in the format that is written now. */
export const isEncodedDiff = (value: unknown): value is EncodedDiff =>
  isAbsentOr(value, "provisional", (provisional) => provisional === true) &&
  isRecord(value, [
    ["format", (format) => format === DIFF_FORMAT],
    ["origin", isOrigin],
    ["participants", listOf(tupleOf(isPeer, isNatural))],
    ["infimum", isMark],
    ["known", listOf(isPair)],
    ["entries", listOf(isEntry)],
    ["pending", isPending],
    ["held", listOf(tupleOf(isNatural, isNatural, listOf(isNatural)))],
    ["decided", listOf(isPair)]
  ])
