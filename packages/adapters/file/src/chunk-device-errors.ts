/** How refusals of the operating system become the typed codes of a device. */
import { ChunkDeviceError } from "@holdfast/storage"
import { Effect } from "effect"

/** One of the codes of a {@link ChunkDeviceError}. */
export type DeviceCode = ChunkDeviceError["code"]

/** The device a refusal is about; `<deviceId>`, or the directory while that is unknown. */
export interface DeviceSubject {
  readonly deviceId: string
}

/** A device's refusal. */
export const refusal = (
  subject: DeviceSubject,
  code: DeviceCode,
  message: string
): ChunkDeviceError => new ChunkDeviceError({ code, deviceId: subject.deviceId, message })

/** The `errno` name of a thrown value, or an empty string. */
export const errnoOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : ""

/**
 * The code for a failed call. What says that there is no room is `full`; everything else is
 * `unavailable`: too many open files, an I/O error or a vanished mount say nothing about the bytes.
 */
export const codeOfErrno = (errno: string): DeviceCode =>
  errno === "ENOSPC" || errno === "EDQUOT" || errno === "EFBIG" ? "full" : "unavailable"

/** The refusal for a failed call; `act` says what was tried. */
export const refusalOf = (subject: DeviceSubject, act: string, cause: unknown): ChunkDeviceError =>
  refusal(
    subject,
    codeOfErrno(errnoOf(cause)),
    `${act}: ${cause instanceof Error ? cause.message : String(cause)}`
  )

/** Runs a file-system call; a failure becomes the device's refusal. */
export const attempt = <A>(
  subject: DeviceSubject,
  act: string,
  call: () => Promise<A>
): Effect.Effect<A, ChunkDeviceError> =>
  Effect.tryPromise({ try: call, catch: (cause) => refusalOf(subject, act, cause) })

/** Like {@link attempt}, with nothing for what does not exist. */
export const attemptExisting = <A>(
  subject: DeviceSubject,
  act: string,
  call: () => Promise<A>
): Effect.Effect<A | undefined, ChunkDeviceError> =>
  attempt(subject, act, () =>
    call().catch((cause: unknown) => {
      if (errnoOf(cause) === "ENOENT") return undefined
      throw cause
    })
  )
