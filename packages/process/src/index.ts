/** What a Holdfast process needs around its service. */
export {
  clusterFlag,
  clusterSettings,
  dataSetting,
  jsonFlag,
  keyFileFlag,
  keyFileSetting,
  numberFlag
} from "./cluster-flags.ts"
export { macWith } from "./cluster-key.ts"
export { CommandFailure, failure, sentenceOf, sentenceOfCause } from "./command-failure.ts"
export {
  addClusterKey,
  type ClusterKey,
  clusterKeysMax,
  createClusterKey,
  fingerprintOf,
  promoteClusterKey,
  readClusterKeys,
  retireClusterKeys
} from "./key-file.ts"
export { keyFileReadEvery, openKeyRing } from "./key-ring.ts"
export {
  booleanSetting,
  numberSetting,
  optionalList,
  optionalText,
  PlainText,
  requiredList,
  requiredText,
  type Setting,
  type SettingTable,
  type SettingValues,
  textSetting,
  timeSetting
} from "./configuration/setting.ts"
export {
  checkDataPath,
  checkDataTls,
  type DataPathOfServer,
  dataTlsFlags,
  type DataTlsValues,
  dataTlsValuesOf,
  dataTransportLayer,
  openDataPath
} from "./data-tls/data-tls.ts"
export { dataTlsServerSettings, dataTlsSettings } from "./data-tls/data-tls-settings.ts"
export { withoutUserInfo } from "./configuration/show-configuration.ts"
export type { Typed, TypedSettings } from "./configuration/setting-flags.ts"
export { firstLine, importModuleFile } from "./module-file.ts"
export { natsConnections } from "./nats/nats-connections.ts"
export { natsFlags, natsValuesOf } from "./nats/nats-flags.ts"
export { natsOptionsOf, type NatsValues } from "./nats/nats-options.ts"
export { natsSettings } from "./nats/nats-settings.ts"
export { missingAnswers, missingTransport, probe } from "./observability/probe.ts"
export type { Observations } from "./observability/readiness.ts"
export { holdfastVersion } from "./observability/version.ts"
export { sayReady } from "./ready.ts"
export { runProcess } from "./run-process.ts"
export { type PreparedService, serviceCommand, type StartedService } from "./service-command.ts"
