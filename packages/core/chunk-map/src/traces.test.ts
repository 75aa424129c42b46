import { describeTraces } from "@holdfast/suites"
import { openLanguage } from "./testing/trace-language.ts"

describeTraces({
  name: "chunk-map",
  folder: new URL("./traces/", import.meta.url),
  open: openLanguage
})
