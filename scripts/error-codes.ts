// Which error codes the source throws, read from its text. Codes of contract/errors.ts are typed where
// they are thrown; the others are plain text there, so this is how they are found.
import { ERRORS } from '#contract/errors.ts'
import { OPERATOR_ERRORS } from '#contract/operator-errors.ts'

/** A file of the source, tests and doubles left out. */
export type SourceFile = { readonly path: string; readonly text: string }

const CATALOGUE = 'src/contract/errors.ts'
const LITERAL = /'([a-z]+(?:_[a-z]+)*)'/g
// As ErgonError and tables of faults write them, as the signers say no, and as their tally gives up.
const THROWN = [
  /\{\s*code: '([a-z_]+)',\s*status: \d+/g,
  /\brefusal\(\s*'([a-z_]+)'/g,
  /\btally\.error\('([a-z_]+)'\)/g,
]

export const isProductSource = (path: string): boolean =>
  /^src\/.*\.ts$/.test(path) && !/\.(test|fixture)\.ts$|\/testing(\/|\.ts$)/.test(path)

/** Codes of the API's catalogue that nothing in the product can answer with. */
export function unusedCodes(files: readonly SourceFile[]): string[] {
  const used = new Set<string>()
  for (const { path, text } of files)
    if (path !== CATALOGUE) for (const [, code] of text.matchAll(LITERAL)) used.add(code ?? '')
  return Object.keys(ERRORS).filter((code) => !used.has(code))
}

/** Codes that are thrown and in neither list, and those of the operator's list that nobody throws. */
export function operatorCodeFaults(
  files: readonly SourceFile[],
  documented: Readonly<Record<string, string>> = OPERATOR_ERRORS,
): string[] {
  const thrown = new Map<string, string>()
  for (const { path, text } of files)
    for (const pattern of THROWN)
      for (const [, code] of text.matchAll(pattern)) thrown.set(code ?? '', path)
  const undocumented = [...thrown].filter(([code]) => !(code in ERRORS) && !(code in documented))
  const stale = Object.keys(documented).filter((code) => !thrown.has(code))
  return [
    ...undocumented.map(([code, path]) => `${path} throws ${code}, which no list documents`),
    ...stale.map((code) => `${code} is documented and never thrown`),
  ]
}
