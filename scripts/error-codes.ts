// Which error codes of the catalogues the source never names: nothing can answer with them. Codes are typed where they
// are thrown, so no code is missing in the catalogues.
import { ERRORS } from '#contract/errors.ts'
import { OPERATOR_ERRORS } from '#contract/operator/operator-errors.ts'

/** A file of the source, tests and doubles left out. */
export type SourceFile = { readonly path: string; readonly text: string }

const CATALOGUES = /^src\/(contract\/(\w+\/)?(operator-)?errors|base\/own-errors)\.ts$/
const LITERAL = /'([a-z]+(?:_[a-z]+)*)'/g

export const isProductSource = (path: string): boolean =>
  /^src\/.*\.ts$/.test(path) && !/\.(test|fixture)\.ts$|\/testing(\/|\.ts$)/.test(path)

/** Codes that nothing in the product can answer with. */
export function unusedCodes(files: readonly SourceFile[]): string[] {
  const used = new Set<string>()
  for (const { path, text } of files)
    if (!CATALOGUES.test(path)) for (const [, code] of text.matchAll(LITERAL)) used.add(code ?? '')
  return Object.keys({ ...ERRORS, ...OPERATOR_ERRORS }).filter((code) => !used.has(code))
}
