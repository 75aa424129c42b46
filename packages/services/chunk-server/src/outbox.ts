/**
 * What the metadata service must hear: outcomes and changes, repeated until it confirmed them.
 *
 *     put ─▶ waiting ─ in the heartbeat with sequence n ─▶ sent(n) ─ confirmed >= n ─▶ gone
 *
 * 1. An item goes only when a heartbeat that carried it was confirmed.
 * 2. One heartbeat carries at most `batchMax` items, the oldest first.
 * 3. At most `itemsMax` wait. More are dropped and counted: the digest of the device then differs
 *    from the service's, and a full report makes it good.
 */

/** Items on their way. */
export interface Outbox<Item> {
  readonly put: (item: Item) => void
  /** The items that the heartbeat `sequence` carries. */
  readonly batch: (sequence: number) => ReadonlyArray<Item>
  /** Drops what heartbeats up to `sequence` carried, and answers it. */
  readonly confirm: (sequence: number) => ReadonlyArray<Item>
  /** Items that no heartbeat carried yet. */
  readonly unsent: () => number
  readonly dropped: () => number
}

interface Entry<Item> {
  readonly item: Item
  /** The first heartbeat that carried it; 0 for none. */
  sentIn: number
}

/** Opens an outbox. */
export const makeOutbox = <Item>(limits: {
  readonly batchMax: number
  readonly itemsMax: number
}): Outbox<Item> => {
  let entries: ReadonlyArray<Entry<Item>> = []
  let arrivals: Array<Entry<Item>> = []
  let dropped = 0
  const all = () => {
    if (arrivals.length > 0) {
      entries = [...entries, ...arrivals]
      arrivals = []
    }
    return entries
  }
  return {
    put: (item) => {
      if (entries.length + arrivals.length >= limits.itemsMax) {
        dropped += 1
        return
      }
      arrivals.push({ item, sentIn: 0 })
    },
    batch: (sequence) =>
      all()
        .slice(0, limits.batchMax)
        .map((entry) => {
          if (entry.sentIn === 0) entry.sentIn = sequence
          return entry.item
        }),
    confirm: (sequence) => {
      const present = all()
      const isConfirmed = ({ sentIn }: Entry<Item>) => sentIn !== 0 && sentIn <= sequence
      entries = present.filter((entry) => !isConfirmed(entry))
      return present.filter(isConfirmed).map(({ item }) => item)
    },
    unsent: () => all().reduce((count, { sentIn }) => count + (sentIn === 0 ? 1 : 0), 0),
    dropped: () => dropped
  }
}
