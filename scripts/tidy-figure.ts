// The figure of a request's steps: ARCHITECTURE.md shows readers what the header of the pipeline says, line by line.
import type { Fault } from './tidy-contract.ts'

const CODE = 'src/http/pipeline.ts'
const PAGE = 'ARCHITECTURE.md'
/** The first line of the figure. */
const HEAD = /^step +in +refused with/

/** A fault where the page and the code have different figures, or one of them has none. */
export function figureFaults(paths: readonly string[], read: (path: string) => string): Fault[] {
  if (!paths.includes(CODE) || !paths.includes(PAGE)) return []
  const ofCode = figureIn(read(CODE), '//   ')
  const ofPage = figureIn(read(PAGE), '')
  if (ofCode === '') return [{ path: CODE, line: 1, rule: "has no figure of a request's steps" }]
  return ofCode === ofPage
    ? []
    : [{ path: PAGE, line: 1, rule: `has another figure of a request's steps than ${CODE}` }]
}

/** The lines of a figure without what each begins with; it ends at a line of other text. */
function figureIn(text: string, before: string): string {
  const lines = text
    .split('\n')
    .map((line) => (line.startsWith(before) ? line.slice(before.length) : ''))
  const first = lines.findIndex((line) => HEAD.test(line))
  if (first < 0) return ''
  const end = lines.findIndex((line, nth) => nth > first && (line === '' || line.startsWith('```')))
  return lines.slice(first, end).join('\n')
}
