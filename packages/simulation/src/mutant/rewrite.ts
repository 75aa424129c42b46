/**
 * Writes a mistake into source files while they are loaded, in this process alone.
 *
 * 1. It must be called before anything imports the files.
 * 2. The text must stand there exactly once: a mutant whose place is gone is an error, not a find.
 */
import { registerHooks } from "node:module"
import type { CoreMutant, SourceEdit } from "./core.ts"

/** A mistake that is being put in. */
export interface Rewriting {
  /** The files that nothing has loaded yet. */
  readonly unloaded: () => ReadonlyArray<string>
}

const asText = (source: string | ArrayBuffer | NodeJS.TypedArray | undefined): string =>
  typeof source === "string" ? source : new TextDecoder().decode(source)

const rewritten = (source: string, { file, from, to }: SourceEdit): string => {
  const parts = source.split(from)
  if (parts.length === 2) return parts.join(to)
  throw new Error(`the text "${from}" stands ${parts.length - 1} times in ${file}`)
}

/** Rewrites the files of a mutant when they are loaded. */
export const rewriteOnLoad = ({ edits }: CoreMutant): Rewriting => {
  const waiting = new Set(edits)
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context)
      const here = edits.filter(({ file }) => url.endsWith(`/packages/${file}`))
      if (here.length === 0) return loaded
      for (const edit of here) waiting.delete(edit)
      return { ...loaded, source: here.reduce(rewritten, asText(loaded.source)) }
    }
  })
  return { unloaded: () => [...waiting].map(({ file }) => file) }
}
