// Strings of a schema: lengths, patterns and formats, all at once.
import { refuse } from '#inference/engine/fields.ts'
import {
  accepts,
  automatonOf,
  intersection,
  type Automaton,
  type AutomatonLimits,
} from './automaton.ts'
import { automatonExpr } from './automaton-grammar.ts'
import { ANY_CHAR, charSet, commonChars, otherChars, type CharSet } from './char-set.ts'
import { FORMATS, NAMES_ONLY } from './formats.ts'
import { chars, or, seq, text, times, type Expr, type Rules } from './grammar.ts'
import { assertPatternText, lengthAutomaton, patternAutomaton } from './pattern.ts'
import { countOf, namesOf, numbersOf } from './schema-keywords.ts'
import type { Conjunction, SchemaDocument } from './schema-document.ts'
import { oneOf, repeat } from './regex.ts'

/** The longest text that is written for a pattern, unless minLength is more: each length is a state. */
const COUNTED_MAX = 1024
const INT_FORMATS = ['int32', 'int64']

const QUOTE = text('"')

export type StringLimits = {
  readonly least: number
  readonly most: number
  readonly patterns: readonly string[]
}

/** The schemas' limits of strings. */
export function stringLimits(schemas: Conjunction, document: SchemaDocument): StringLimits {
  const { param, strict } = document
  const patterns = namesOf(schemas, 'pattern', param)
  const formats = namesOf(schemas, 'format', param).filter((name) => !INT_FORMATS.includes(name))
  const known = formats.flatMap((name) => FORMATS.get(name) ?? [])
  const unknown = formats.find((name) => !FORMATS.has(name) && !NAMES_ONLY.has(name))
  // JSON Schema: a name of somebody's own asserts nothing; beside a pattern, that says what is meant.
  if (strict && unknown !== undefined && patterns.length === 0)
    throw refuse(param, `"strict" does not know the format ${JSON.stringify(unknown)}`)
  if (unknown === 'regex') throw refuse(param, 'no grammar holds the format "regex"')
  return {
    least: Math.max(0, ...numbersOf(schemas, 'minLength', param).map(countOf('minLength', param))),
    most: Math.min(
      Number.POSITIVE_INFINITY,
      ...numbersOf(schemas, 'maxLength', param).map(countOf('maxLength', param)),
    ),
    patterns: [...new Set([...known, ...patterns])],
  }
}

/** Undefined: there is no such string. */
export function stringExpr(
  limits: StringLimits,
  rules: Rules,
  work: AutomatonLimits,
): Expr | undefined {
  const { least, most, patterns } = limits
  if (least > most) return undefined
  if (patterns.length === 0) return seq(QUOTE, times(inString(ANY_CHAR, rules), least, most), QUOTE)
  return rules.shared(JSON.stringify(limits), () => {
    const automaton = stringAutomaton(limits, work)
    return automaton.length === 0 ? undefined : quoted(automaton, rules)
  })
}

export const quoted = (automaton: Automaton, rules: Rules): Expr =>
  seq(
    QUOTE,
    automatonExpr(automaton, rules, (set) => inString(set, rules)),
    QUOTE,
  )

export function stringAutomaton(
  { least, most, patterns }: StringLimits,
  work: AutomatonLimits,
): Automaton {
  const all = patterns.map((pattern) => patternAutomaton(pattern, work))
  const counted = Math.min(most, Math.max(COUNTED_MAX, least))
  const lengths =
    least === 0 && most === Number.POSITIVE_INFINITY
      ? []
      : [lengthAutomaton(least, most === Number.POSITIVE_INFINITY ? most : counted, work)]
  const [first, ...others] = [...all, ...lengths]
  if (first === undefined) return automatonOf(repeat(oneOf(ANY_CHAR), 0), work)
  return others.reduce((one, other) => intersection(one, other, work), first)
}

/** A test for values of those strings; a value may have characters that a model is never asked for. */
export function stringTest(
  limits: StringLimits,
  work: AutomatonLimits,
): (value: string) => boolean {
  const { least, most, patterns } = limits
  const automata = patterns.map((pattern) => patternAutomaton(pattern, work))
  return (value) => {
    if (automata.length > 0) assertPatternText(value, work.param)
    const { length } = [...value]
    return length >= least && length <= most && automata.every((each) => accepts(each, value))
  }
}

const ESCAPES = new Map([
  [0x08, '\\b'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0c, '\\f'],
  [0x0d, '\\r'],
  [0x22, '\\"'],
  [0x5c, '\\\\'],
])
const CONTROLS: CharSet = [[0, 0x1f]]
const PLAIN = otherChars(charSet([...ESCAPES.keys()].map((code) => [code, code] as const)))
const PLAIN_TOO: CharSet = charSet([...PLAIN, [0x7f, 0x9f]])

/** Characters as they stand between the quotes: plain where they can be, else by their shortest escape. */
function inString(set: CharSet, rules: Rules): Expr {
  const plain = commonChars(set, PLAIN_TOO)
  const has = (code: number) => set.some(([from, to]) => from <= code && code <= to)
  const short = [...ESCAPES].filter(([code]) => has(code)).map(([, written]) => written)
  const long = commonChars(set, CONTROLS)
    .flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index))
    .filter((code) => !ESCAPES.has(code))
    .map((code) => `\\u${code.toString(16).padStart(4, '0')}`)
  if (short.length + long.length === 0) return chars(plain)
  const escaped = [...short, ...long].map(text)
  return rules.shared(JSON.stringify(set), () =>
    or([...(plain.length > 0 ? [chars(plain)] : []), ...escaped]),
  )
}
