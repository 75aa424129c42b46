import { loadReadmeExample } from "@holdfast/suites"
import { Layer } from "effect"
import { expect, it } from "vitest"

it("the example of the README makes a pipeline layer", async () => {
  expect(await loadReadmeExample(import.meta.url)).toMatchObject({
    pipeline: expect.toSatisfy(Layer.isLayer)
  })
})
