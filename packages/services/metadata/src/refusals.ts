/** Refusals of the chunk map and of the journal as the errors that callers see. */
import type { Refusal } from "@holdfast/chunk-map"
import type { JournalError } from "@holdfast/storage"
import { ServiceError } from "@holdfast/wire"

/** A refusal of the chunk map; its code is the operation's. */
export const refused = ({ code, message, retryAfterMs }: Refusal): ServiceError =>
  new ServiceError({ code, message, ...(retryAfterMs === null ? {} : { retryAfterMs }) })

/** What could not be made durable was not done; the state in memory is what it was. */
export const notDurable = (error: JournalError): ServiceError =>
  new ServiceError({
    code: error.code === "full" ? "journal-full" : "journal-unavailable",
    message: `nothing was changed, because the journal could not be written: ${error.message}`,
    retryAfterMs: 1_000
  })

/** Too many commands wait. */
export const overloaded = (waiting: number): ServiceError =>
  new ServiceError({
    code: "overloaded",
    message: `${waiting} commands wait for this service`,
    retryAfterMs: 100
  })

/** The service is stopping. */
export const shuttingDown = (): ServiceError =>
  new ServiceError({
    code: "shutting-down",
    message: "this service is stopping",
    retryAfterMs: 500
  })

/** A command that died; it was undone. */
export const internal = (cause: unknown): ServiceError =>
  new ServiceError({ code: "internal", message: `the service failed on this: ${String(cause)}` })

/** A command waited longer than its sender does. */
export const tooLate = (): ServiceError =>
  new ServiceError({ code: "timeout", message: "its turn did not come in time", retryAfterMs: 0 })
