/** The runnable example of a README: its first fenced block that is marked `ts`. */

/** The code of the first `ts` block, or undefined when there is none. */
export const exampleOf = (readme: string): string | undefined =>
  /```ts\n([\s\S]*?)```/.exec(readme)?.[1]
