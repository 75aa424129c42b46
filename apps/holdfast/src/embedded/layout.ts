/** Where an embedded cluster keeps what: one directory with everything. */
import { join } from "node:path"

/** The paths below a data directory. */
export const layoutOf = (directory: string) => ({
  key: join(directory, "cluster.key"),
  access: join(directory, "access.json"),
  journal: join(directory, "metadata"),
  spool: join(directory, "spool"),
  checkpoints: join(directory, "checkpoints"),
  leases: join(directory, "leases"),
  host: (id: string) => join(directory, "hosts", id),
  device: (id: string) => join(directory, "devices", id),
  peer: (id: string) => join(directory, "peers", id)
})

/** The paths below a data directory. */
export type Layout = ReturnType<typeof layoutOf>
