/**
 * Whom a process trusts on the data path, and who it is there: the certificates of the connections
 * that chunk bytes travel on, which are not those of NATS.
 */
import { booleanSetting, optionalText, PlainText } from "../configuration/setting.ts"

/** The settings of every process that reads or writes chunks. */
export const dataTlsSettings = {
  dataTlsCa: optionalText(PlainText, {
    description:
      "The authority (PEM file) that signed the certificates of the data path, instead of the system's",
    variables: ["HOLDFAST_DATA_TLS_CA"]
  }),
  dataTlsCert: optionalText(PlainText, {
    description:
      "This process's certificate (PEM file) on the data path: a chunk server serves TLS with it",
    variables: ["HOLDFAST_DATA_TLS_CERT"]
  }),
  dataTlsKey: optionalText(PlainText, {
    description: "The private key (PEM file) of that certificate",
    variables: ["HOLDFAST_DATA_TLS_KEY"]
  }),
  dataTlsRequire: booleanSetting({
    description: "Refuse chunk servers that are reached by plain http://",
    variables: ["HOLDFAST_DATA_TLS_REQUIRE"]
  })
}

/** The settings of a chunk server. */
export const dataTlsServerSettings = {
  ...dataTlsSettings,
  dataTlsVerify: booleanSetting({
    description: "Demand a certificate of that authority from whoever reads or writes chunks",
    variables: ["HOLDFAST_DATA_TLS_VERIFY"]
  })
}
