/** What to do about the exception that a reply to a checkpoint names. */

/**
 * - `Stored`: there was none. `Lost`: the lease is another's; stop. `Again`: what the KCL writes to
 *   is busy or away; the same checkpoint may succeed soon.
 * - `Refused`: the daemon takes the checkpoint for wrong, which is a fault in here: the same one
 *   would be refused again. `Unavailable`: it could not be stored now.
 */
export type CheckpointAnswer = "Stored" | "Lost" | "Again" | "Refused" | "Unavailable"

/** Sorts an exception, given by its simple name. */
export const answerOf = (error: string | undefined): CheckpointAnswer => {
  switch (error) {
    case undefined:
      return "Stored"
    case "ShutdownException":
      return "Lost"
    case "ThrottlingException":
    case "KinesisClientLibDependencyException":
      return "Again"
    case "IllegalArgumentException":
      return "Refused"
    default:
      return "Unavailable"
  }
}
