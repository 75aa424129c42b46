/** Profiles: the shape of a cluster, what is done to it, and which faults it meets. */
import type { ClusterShape } from "./cluster/cluster.ts"
import type { FaultWeights } from "./faults/draw-plan.ts"
import { archive } from "./workload/archive.ts"
import { chunks } from "./workload/chunks.ts"
import { membership } from "./workload/membership.ts"
import { partitions } from "./workload/partitions.ts"
import { reservations } from "./workload/reservations.ts"
import { stages } from "./workload/stages.ts"
import type { MakeWorkload } from "./workload/workload.ts"

/** A kind of simulation. */
export interface Profile {
  readonly name: string
  readonly shape: ClusterShape
  /** How long the faulty phase lasts, in virtual time. */
  readonly phaseMillis: number
  readonly faultsMax: number
  readonly weights: FaultWeights
  readonly workloads: ReadonlyArray<MakeWorkload>
}

const networkFaults: FaultWeights = { Links: 3, Isolate: 2, OneWay: 2, Disconnect: 1 }
const processFaults: FaultWeights = { Kill: 5, PowerCut: 0.5, Stop: 2, Pause: 2, ClockJump: 1 }
const brokerFaults: FaultWeights = {
  Streams: 1,
  Store: 1.5,
  BrokerCut: 1.5,
  LateWrites: 1.5,
  Takeover: 1
}
const startFaults: FaultWeights = { DamagedJournal: 0.7, DamagedIdentity: 0.7, Clone: 0.7 }
const hostFaults: FaultWeights = { NoHandles: 0.7, ShortReads: 0.7, Operator: 2.5 }
const diskFaults: FaultWeights = { DiskFull: 1, SlowDisk: 1, FailWrites: 1, FailReads: 1 }

const chunksProfile: Profile = {
  name: "chunks",
  shape: { hosts: 4, devicesPerHost: 1, peers: 0, workers: 0, clients: 2 },
  phaseMillis: 40_000,
  faultsMax: 12,
  weights: {
    ...networkFaults,
    ...processFaults,
    ...diskFaults,
    ...startFaults,
    ...hostFaults,
    FlipBit: 2
  },
  workloads: [chunks]
}

const roomProfile: Profile = {
  name: "room",
  shape: { hosts: 3, devicesPerHost: 1, peers: 0, workers: 0, clients: 2 },
  phaseMillis: 30_000,
  faultsMax: 8,
  weights: { Links: 1, Kill: 1, Pause: 1, FlipBit: 4, DiskFull: 1, TightDisk: 6 },
  workloads: [chunks, reservations]
}

const archiveProfile: Profile = {
  name: "archive",
  shape: { hosts: 3, devicesPerHost: 1, peers: 3, workers: 2, clients: 1 },
  phaseMillis: 40_000,
  faultsMax: 12,
  weights: {
    ...networkFaults,
    ...processFaults,
    ...diskFaults,
    ...brokerFaults,
    ...startFaults,
    ...hostFaults,
    FlipBit: 1
  },
  workloads: [archive]
}

const peersProfile: Profile = {
  name: "peers",
  shape: { hosts: 0, devicesPerHost: 0, peers: 5, workers: 0, clients: 3 },
  phaseMillis: 30_000,
  faultsMax: 12,
  weights: {
    ...networkFaults,
    ...processFaults,
    SlowDisk: 1,
    FailWrites: 1,
    DiskFull: 1,
    DamagedStore: 2
  },
  workloads: [partitions]
}

const membersProfile: Profile = {
  name: "members",
  shape: { hosts: 0, devicesPerHost: 0, peers: 4, spares: 2, workers: 0, clients: 2 },
  phaseMillis: 40_000,
  faultsMax: 8,
  weights: { ...networkFaults, ...processFaults, SlowDisk: 1, FailWrites: 1 },
  workloads: [partitions, membership]
}

const workersProfile: Profile = {
  name: "workers",
  shape: { hosts: 2, devicesPerHost: 1, peers: 3, workers: 3, clients: 1 },
  phaseMillis: 40_000,
  faultsMax: 14,
  weights: { ...networkFaults, Kill: 8, Stop: 4, Pause: 6, ...brokerFaults },
  workloads: [archive]
}

const stagesProfile: Profile = {
  name: "stages",
  shape: { hosts: 0, devicesPerHost: 0, peers: 0, workers: 3, pipeline: "stage", clients: 1 },
  phaseMillis: 40_000,
  faultsMax: 14,
  weights: { Kill: 8, Stop: 4, Pause: 6, ...brokerFaults, Streams: 4, Store: 4 },
  workloads: [stages]
}

const mixedProfile: Profile = {
  name: "mixed",
  shape: { hosts: 4, devicesPerHost: 2, peers: 4, workers: 2, clients: 2 },
  phaseMillis: 30_000,
  faultsMax: 16,
  weights: {
    ...networkFaults,
    ...processFaults,
    ...diskFaults,
    ...brokerFaults,
    ...startFaults,
    ...hostFaults,
    FlipBit: 2
  },
  workloads: [archive, chunks, partitions]
}

/** All profiles. */
export const profiles: ReadonlyArray<Profile> = [
  archiveProfile,
  chunksProfile,
  peersProfile,
  membersProfile,
  workersProfile,
  stagesProfile,
  mixedProfile,
  roomProfile
]

/** The profile of a name. */
export const profileNamed = (name: string): Profile | undefined =>
  profiles.find((profile) => profile.name === name)
