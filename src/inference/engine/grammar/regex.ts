// Regular expressions as trees: what a pattern, a format or a range of numbers becomes first.
import type { CharSet } from './char-set.ts'
import { ANY_CHAR, charsOf } from './char-set.ts'

export type Regex =
  | { readonly kind: 'chars'; readonly set: CharSet }
  | { readonly kind: 'seq'; readonly parts: readonly Regex[] }
  | { readonly kind: 'or'; readonly parts: readonly Regex[] }
  | { readonly kind: 'times'; readonly part: Regex; readonly least: number; readonly most: number }
  /** The anchors `^` and `$`. */
  | { readonly kind: 'start' }
  | { readonly kind: 'end' }

export const oneOf = (set: CharSet): Regex => ({ kind: 'chars', set })
export const regexSequence = (...parts: readonly Regex[]): Regex => ({ kind: 'seq', parts })
export const either = (...parts: readonly Regex[]): Regex => ({ kind: 'or', parts })
export const repeat = (part: Regex, least: number, most = Number.POSITIVE_INFINITY): Regex => ({
  kind: 'times',
  part,
  least,
  most,
})
export const literal = (value: string): Regex =>
  regexSequence(...[...value].map((character) => oneOf(charsOf(character))))

/** A text that has the expression somewhere in it. */
export const within = (regex: Regex): Regex =>
  regexSequence(repeat(oneOf(ANY_CHAR), 0), regex, repeat(oneOf(ANY_CHAR), 0))
