import { describeReadmeExample } from "@holdfast/suites"

describeReadmeExample(import.meta.url)
