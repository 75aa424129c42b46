/**
 * The flags that every process and command of a cluster shares, with their environment variables.
 */
import { Config } from "effect"
import { Flag } from "effect/cli"
import { ClusterId } from "@holdfast/wire"
import { PlainText, requiredText, textSetting } from "./configuration/setting.ts"

/** The cluster's name; `HOLDFAST_CLUSTER`, else `holdfast`. */
export const clusterFlag = Flag.String("cluster").pipe(
  Flag.withDescription("The cluster's name"),
  Flag.withFallbackConfig(Config.String("HOLDFAST_CLUSTER").pipe(Config.withDefault("holdfast"))),
  Flag.withSchema(ClusterId)
)

/** `--json`: one line of JSON instead of text for people. */
export const jsonFlag = Flag.Boolean("json").pipe(
  Flag.withDescription("Print JSON"),
  Flag.withDefault(false)
)

/** A whole number within bounds, shown with its default. */
export const numberFlag = (options: {
  readonly name: string
  readonly description: string
  readonly value: number
  readonly least: number
  readonly most: number
}) => {
  const { description, least, most, name, value } = options
  return Flag.Int(name).pipe(
    Flag.withDescription(`${description} (${value})`),
    Flag.withDefault(value),
    Flag.filter(
      (given) => given >= least && given <= most,
      () => `a number from ${least} to ${most}`
    )
  )
}

/** The settings that every service of a cluster has. */
export const clusterSettings = {
  cluster: textSetting(ClusterId, {
    description: "The cluster's name",
    variables: ["HOLDFAST_CLUSTER"],
    value: "holdfast"
  })
}

const aboutKeyFile = "A file of the cluster's keys: 64 hex digits, readable by its owner only"

/** The file of the cluster's keys, for a command; `HOLDFAST_KEY_FILE`. */
export const keyFileFlag = Flag.String("key-file").pipe(
  Flag.withDescription(aboutKeyFile),
  Flag.withFallbackConfig(Config.String("HOLDFAST_KEY_FILE"))
)

/** The file of the cluster's keys, for a service. */
export const keyFileSetting = requiredText(PlainText, {
  description: aboutKeyFile,
  variables: ["HOLDFAST_KEY_FILE"]
})

/** The directory that a process keeps its state in. */
export const dataSetting = requiredText(PlainText, {
  description: "The directory for everything that is kept",
  variables: ["HOLDFAST_DATA"]
})
