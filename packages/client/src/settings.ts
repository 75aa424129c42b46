/** How a client speaks to its cluster. */
import type { Duration } from "effect"
import { Context } from "effect"

/** How patient a client is, and how much it does at a time. */
export interface ClientSettings {
  readonly cluster: string
  /** Names this client in what it sends. */
  readonly sender?: string | undefined
  /** For one attempt at a call. */
  readonly attemptDeadline: Duration.Input
  /** For a call with all its attempts. */
  readonly callDeadline: Duration.Input
  /** For a call that waits for durable copies or participants, with all its attempts. */
  readonly writeDeadline: Duration.Input
  /** Without a byte for so long, a holder has failed. */
  readonly transferDeadline: Duration.Input
  /** Without an answer for so long, the next holder is asked as well. */
  readonly hedgeAfter: Duration.Input
  /**
   * Before devices that did not take a chunk are tried again, as there are no others: they may be
   * restarting. None for who tries again by itself.
   */
  readonly restartPause: Duration.Input
  /** Chunks fetched ahead of the reader. */
  readonly ahead: number
  /** Index records asked for at a time. */
  readonly pageSize: number
}

/** Settings for which nothing was said, but for the cluster. */
export const clientSettingsDefault: Omit<ClientSettings, "cluster"> = {
  attemptDeadline: "3 seconds",
  callDeadline: "15 seconds",
  writeDeadline: "30 seconds",
  transferDeadline: "10 seconds",
  hedgeAfter: "400 millis",
  restartPause: 0,
  ahead: 4,
  pageSize: 100
}

/** The settings of the client in hand. */
export class ClientConfig extends Context.Service<ClientConfig, ClientSettings>()(
  "@holdfast/client/ClientConfig"
) {}
