import { loadReadmeExample } from "@holdfast/suites"
import { assert, it } from "@effect/vitest"
import { Layer, Predicate } from "effect"

it("the example of the README makes a pipeline", async () => {
  const loaded = await loadReadmeExample(import.meta.url)
  assert.isTrue(Predicate.hasProperty(loaded, "pipeline") && Layer.isLayer(loaded.pipeline))
})
