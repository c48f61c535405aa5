// The keyword `pattern`: ECMA-262 regular expressions as far as they are regular, and lookaheads right
// after a leading "^". Nothing is matched by backtracking: a pattern becomes an automaton, or is refused.
import { refuse, shown } from '#inference/engine/fields.ts'
import {
  automatonOf,
  difference,
  intersection,
  type Automaton,
  type AutomatonLimits,
} from './automaton.ts'
import { DEPTH_MAX } from './budget.ts'
import { readClass, readEscape } from './pattern-class.ts'
import { ANY_CHAR, charsOf, isAnyText, otherChars, type CharSet } from './char-set.ts'
import { either, oneOf, repeat, regexSequence, within, type Regex } from './regex.ts'

const LENGTH_MAX = 4096
/** Larger counts of one part are more copies than any automaton may have. */
const REPEATS_MAX = 10_000

/** The automaton of a pattern. Throws `invalid_request` naming it when it is none, or not regular. */
export function patternAutomaton(source: string, limits: AutomatonLimits): Automaton {
  const reader = new PatternReader(source, limits)
  const { conditions, body } = reader.pattern()
  const whole = (regex: Regex) => automatonOf(within(regex), limits)
  return conditions.reduce(
    (automaton, { regex, isNegative }) =>
      (isNegative ? difference : intersection)(automaton, whole(regex), limits),
    whole(body),
  )
}

/** Patterns know no control characters: a text that has some is refused, as they could not tell if it fits. */
export function assertPatternText(value: string, param: string): void {
  if (!isAnyText(value))
    throw refuse(param, `${shown(value)} has characters that no pattern is held against`)
}

const START: Regex = { kind: 'start' }
const END: Regex = { kind: 'end' }
const LINE_ENDS = charsOf('\n\r\u2028\u2029')

type Condition = { readonly regex: Regex; readonly isNegative: boolean }

class PatternReader {
  readonly #characters: readonly string[]
  readonly #source: string
  readonly #limits: AutomatonLimits
  #at = 0
  #depth = 0

  constructor(source: string, limits: AutomatonLimits) {
    this.#source = source
    this.#limits = limits
    if (source.length > LENGTH_MAX) throw this.#fault(`it is longer than ${LENGTH_MAX} characters`)
    if (!source.isWellFormed()) throw this.#fault('it has half of a surrogate pair')
    this.#characters = [...source]
  }

  /** Lookaheads are conditions on the whole text, as long as they stand at its start. */
  pattern(): { conditions: Condition[]; body: Regex } {
    const conditions: Condition[] = []
    const isAnchored = this.#take('^')
    while (isAnchored && (this.#sees('(?=') || this.#sees('(?!'))) {
      const isNegative = this.#sees('(?!')
      this.#at += 3
      conditions.push({ regex: regexSequence(START, this.#alternatives()), isNegative })
      if (!this.#take(')')) throw this.#fault('a parenthesis is not closed')
    }
    const [first = regexSequence(), ...others] = this.#branches()
    if (this.#at < this.#characters.length) throw this.#fault('a parenthesis is not opened')
    if (conditions.length > 0 && others.length > 0)
      throw this.#fault('a lookahead beside alternatives is not served')
    return { conditions, body: either(isAnchored ? regexSequence(START, first) : first, ...others) }
  }

  #alternatives(): Regex {
    if (++this.#depth > DEPTH_MAX) throw this.#fault(`nested deeper than ${DEPTH_MAX}`)
    const regex = either(...this.#branches())
    this.#depth--
    return regex
  }

  #branches(): Regex[] {
    const branches = [this.#sequence()]
    while (this.#take('|')) branches.push(this.#sequence())
    return branches
  }

  #sequence(): Regex {
    const parts: Regex[] = []
    for (;;) {
      const next = this.#characters[this.#at]
      if (next === undefined || next === '|' || next === ')') return regexSequence(...parts)
      const atom = this.#atom(next)
      parts.push(atom.kind === 'start' || atom.kind === 'end' ? atom : this.#quantified(atom))
    }
  }

  #atom(next: string): Regex {
    this.#at++
    switch (next) {
      case '^':
        return START
      case '$':
        return END
      case '.':
        return oneOf(otherChars(LINE_ENDS))
      case '(':
        return this.#group()
      case '[':
        return oneOf(this.#set(readClass(this.#characters, this.#at)))
      case '\\':
        return oneOf(this.#set(readEscape(this.#characters, this.#at, false)))
      case '*':
      case '+':
      case '?':
        throw this.#fault(`nothing is before "${next}"`)
      default:
        return oneOf(charsOf(next))
    }
  }

  #group(): Regex {
    if (this.#take('?')) {
      const named = /^<[A-Za-z_$][\w$]*>/.exec(
        this.#characters.slice(this.#at, this.#at + 80).join(''),
      )
      if (named !== null) this.#at += named[0].length
      else if (!this.#take(':'))
        throw this.#fault(
          'of "(?" only "(?:", names, and lookaheads after a leading "^" are served',
        )
    }
    const regex = this.#alternatives()
    if (!this.#take(')')) throw this.#fault('a parenthesis is not closed')
    return regex
  }

  #quantified(atom: Regex): Regex {
    const counts = this.#counts()
    if (counts === undefined) return atom
    // A lazy quantifier finds another match, not another text.
    this.#take('?')
    return this.#quantified(repeat(atom, ...counts))
  }

  #counts(): [number, number] | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY]
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY]
    if (this.#take('?')) return [0, 1]
    const found = /^\{(\d{1,9})(,?)(\d{0,9})\}/.exec(
      this.#characters.slice(this.#at, this.#at + 22).join(''),
    )
    if (found === null) return undefined
    this.#at += found[0].length
    const least = Number(found[1])
    const most = found[3] !== '' ? Number(found[3]) : found[2] === ',' ? Infinity : least
    if (least > most) throw this.#fault('a count whose least is above its most')
    if (Math.max(least, most === Infinity ? 0 : most) > REPEATS_MAX)
      throw this.#fault(`a count above ${REPEATS_MAX}`)
    return [least, most]
  }

  #set(read: { set: CharSet; at: number } | { fault: string }): CharSet {
    if ('fault' in read) throw this.#fault(read.fault)
    this.#at = read.at
    return read.set
  }

  #take(character: string): boolean {
    if (this.#characters[this.#at] !== character) return false
    this.#at++
    return true
  }

  #sees(text: string): boolean {
    return [...text].every((each, index) => this.#characters[this.#at + index] === each)
  }

  #fault(why: string) {
    const shown = JSON.stringify(this.#source.slice(0, SHOWN_CHARACTERS))
    return refuse(this.#limits.param, `the pattern ${shown}: ${why}`)
  }
}

const SHOWN_CHARACTERS = 200

/** Any text of a length in characters. */
export const lengthAutomaton = (least: number, most: number, limits: AutomatonLimits): Automaton =>
  automatonOf(repeat(oneOf(ANY_CHAR), least, most), limits)
