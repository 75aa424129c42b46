/** A device that is open, and what the server knows of it beside its bytes. */
import {
  type ChunkDeviceError,
  type ChunkName,
  ChunkTransportError,
  type OpenDevice
} from "@holdfast/storage"
import type { DeviceId } from "@holdfast/wire"
import { type CopyLedger, copyKey, makeCopyLedger } from "./copy-ledger.ts"

/** A copy that is bad, and what showed it. */
export interface BadCopy {
  readonly chunk: ChunkName
  readonly reason: string
}

/** A device that is open. */
export interface ServedDevice {
  readonly deviceId: DeviceId
  readonly directory: string
  readonly epoch: number
  readonly store: OpenDevice
  readonly ledger: CopyLedger
  /** Copies that are being written now, by their keys. */
  readonly writing: Set<string>
  /** Copies that were told to be bad, by their keys: told once, and again after a full report. */
  readonly knownBad: Map<string, BadCopy>
  /** Why the metadata service does not want it served here, if so. */
  refusal: string | undefined
  /** Set while a full report is under way. */
  isReporting: boolean
  /** The newest heartbeat that was sent before the last complete report ended; 0 before any. */
  reportedAt: number
}

/** The most bad copies remembered one by one; more of them may be told again. */
const knownBadMax = 10_000

/** What the server keeps of a device that was opened. */
export const servedDevice = (
  deviceId: DeviceId,
  directory: string,
  store: OpenDevice
): ServedDevice => ({
  deviceId,
  directory,
  epoch: store.epoch,
  store,
  ledger: makeCopyLedger(),
  writing: new Set(),
  knownBad: new Map(),
  refusal: undefined,
  isReporting: false,
  reportedAt: 0
})

/** Notes that a copy is bad; false when that was known. */
export const noteBad = (device: ServedDevice, bad: BadCopy): boolean => {
  const key = copyKey(bad.chunk)
  if (device.knownBad.has(key)) return false
  if (device.knownBad.size < knownBadMax) device.knownBad.set(key, bad)
  return true
}

/** A device's refusal as the data path tells it. */
export const transportError = (error: ChunkDeviceError): ChunkTransportError => {
  const { deviceId, message } = error
  return new ChunkTransportError({ code: transportCode(error.code), deviceId, message })
}

const transportCode = (code: ChunkDeviceError["code"]): ChunkTransportError["code"] => {
  switch (code) {
    case "full":
    case "not-found":
    case "corrupt":
    case "unavailable":
    case "exists":
    case "out-of-range":
      return code
    case "not-formatted":
    case "foreign":
    case "locked":
    case "closed":
      return "unavailable"
  }
}
