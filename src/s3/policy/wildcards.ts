// `*` and `?` in policies and conditions. The runs between stars are found one after the other, each as far left as
// possible, without backtracking. A run without `?` costs its length plus that of the text (Knuth, Morris and Pratt),
// a run with `?` at worst their product. A regular expression from a tenant's text may take exponential time, and
// V8's indexOf the product.
import type { Judging } from './judging.ts'

/** Counts steps: a step is about one comparison of two characters. */
type Effort = Pick<Judging, 'spend'>

const ANY = '?'.charCodeAt(0)

/** The cost of each match besides its comparisons. */
const MATCH_STEPS = 16

/** True when the pattern matches the whole text: `*` is any run of characters, `?` any one character. */
export function matchesWildcards(pattern: string, text: string, effort: Effort): boolean {
  effort.spend(MATCH_STEPS)
  const star = pattern.indexOf('*')
  if (star < 0)
    return pattern.length === text.length && fitsAt({ run: pattern, text, at: 0 }, effort)
  const lastStar = pattern.lastIndexOf('*')
  const last = pattern.slice(lastStar + 1)
  const end = text.length - last.length
  if (end < star) return false
  if (!fitsAt({ run: pattern.slice(0, star), text, at: 0 }, effort)) return false
  if (!fitsAt({ run: last, text, at: end }, effort)) return false
  if (star === lastStar) return true
  return hasRuns(pattern.slice(star + 1, lastStar), text.slice(star, end), effort)
}

/** True when the text has the runs between the stars, one after the other. */
function hasRuns(pattern: string, text: string, effort: Effort): boolean {
  const runs = pattern.split('*')
  effort.spend(runs.length)
  let at = 0
  for (const run of runs) {
    if (run === '') continue
    const seek = run.includes('?') ? seekEach : seekLiteral
    at = seek({ run, text, at }, effort)
    if (at < 0) return false
  }
  return true
}

/** True when the pattern has no wildcard. */
export const isFixed = (text: string): boolean => !/[*?]/.test(text)

/** A run without stars, and a position in the text. */
type MatchPosition = { readonly run: string; readonly text: string; readonly at: number }

function fitsAt({ run, text, at }: MatchPosition, effort: Effort): boolean {
  let fits = 0
  for (; fits < run.length; fits++) {
    const wanted = run.charCodeAt(fits)
    if (wanted !== ANY && wanted !== text.charCodeAt(at + fits)) break
  }
  effort.spend(fits + 1)
  return fits === run.length
}

/** The end of the first match of the run; -1 when there is none. */
function seekEach({ run, text, at }: MatchPosition, effort: Effort): number {
  for (let begin = at; begin + run.length <= text.length; begin++)
    if (fitsAt({ run, text, at: begin }, effort)) return begin + run.length
  return -1
}

/** The same for a run without `?`. */
function seekLiteral({ run, text, at }: MatchPosition, effort: Effort): number {
  if (run.length > text.length - at) return -1
  const borders = bordersOf(run)
  let fits = 0
  let index = at
  while (fits < run.length && index < text.length) {
    const found = text.charCodeAt(index)
    while (fits > 0 && run.charCodeAt(fits) !== found) fits = borders[fits - 1] ?? 0
    if (run.charCodeAt(fits) === found) fits++
    index++
  }
  effort.spend(2 * (run.length + index - at))
  return fits === run.length ? index : -1
}

/** For each prefix of the run: the length of its longest proper prefix that is also its suffix. */
function bordersOf(run: string): number[] {
  const borders = [0]
  let fits = 0
  for (let index = 1; index < run.length; index++) {
    const found = run.charCodeAt(index)
    while (fits > 0 && run.charCodeAt(fits) !== found) fits = borders[fits - 1] ?? 0
    if (run.charCodeAt(fits) === found) fits++
    borders.push(fits)
  }
  return borders
}
