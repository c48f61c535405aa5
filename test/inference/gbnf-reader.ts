// A grammar in llama.cpp's GBNF → rules that are lists of alternatives of symbols, and nothing else:
// groups and repetitions have become rules of their own.
import { invariant } from '#base/errors.ts'
import { refuse } from '#inference/engine/fields.ts'

/** Code points, inclusive, sorted, disjoint. */
export type Ranges = readonly (readonly [number, number])[]
export type GrammarSymbol = { readonly ranges: Ranges } | { readonly rule: number }
export type Rule = readonly (readonly GrammarSymbol[])[]
export type Grammar = { readonly rules: readonly Rule[]; readonly root: number }

export const CODE_POINT_MAX = 0x10_ff_ff
/** Repetitions are copies: 1,000 items of 100 symbols each, or 100 strings of up to 1,000 characters. */
export const SYMBOLS_MAX = 100_000

/** Throws `invalid_request` for `param` beyond SYMBOLS_MAX. The text is our own: it must be GBNF. */
export function parseGbnf(text: string, param: string): Grammar {
  const reader = new GbnfReader(text, param)
  reader.readRules()
  return reader.grammar()
}

const NAME = /[A-Za-z0-9-]+/y
const SPACE = /(?:\s|#[^\n]*)*/y
const RULE_HEAD = /[A-Za-z0-9-]+\s*::=/y
const REPETITION = /[?*+]|\{(\d+)(,?)(\d*)\}/y

class GbnfReader {
  readonly #text: string
  readonly #param: string
  readonly #rules: GrammarSymbol[][][] = []
  readonly #names = new Map<string, number>()
  #at = 0
  #symbols = 0

  constructor(text: string, param: string) {
    this.#text = text
    this.#param = param
  }

  readRules(): void {
    this.#skip()
    while (this.#at < this.#text.length) {
      const name = this.#take(NAME)
      this.#skip()
      this.#expect('::=')
      this.#rules[this.#named(name)] = this.#alternatives()
    }
  }

  grammar(): Grammar {
    for (const [name, rule] of this.#names)
      invariant(this.#rules[rule]?.length !== 0, `the grammar has a rule ${name}`)
    return { rules: this.#rules, root: this.#named('root') }
  }

  #alternatives(): GrammarSymbol[][] {
    const read: GrammarSymbol[][] = []
    do {
      this.#skip()
      read.push(this.#sequence())
    } while (this.#accept('|'))
    return read
  }

  #sequence(): GrammarSymbol[] {
    const read: GrammarSymbol[] = []
    for (;;) {
      const item = this.#item()
      if (item === undefined) return read
      const repeated = this.#repeated(item)
      for (const symbol of repeated) read.push(symbol)
      this.#skip()
    }
  }

  /** The symbols that a repetition applies to: a literal counts as a whole. */
  #item(): GrammarSymbol[] | undefined {
    const next = this.#text[this.#at]
    if (next === undefined || next === '|' || next === ')' || this.#looksAt(RULE_HEAD))
      return undefined
    if (this.#accept('"')) return this.#literal()
    if (this.#accept('[')) return [this.#counted({ ranges: this.#class() })]
    if (this.#accept('.')) return [this.#counted({ ranges: [[0, CODE_POINT_MAX]] })]
    if (!this.#accept('(')) return [this.#counted({ rule: this.#named(this.#take(NAME)) })]
    const alternatives = this.#alternatives()
    this.#expect(')')
    return [this.#newRule(alternatives)]
  }

  #repeated(item: GrammarSymbol[]): GrammarSymbol[] {
    REPETITION.lastIndex = this.#at
    const match = REPETITION.exec(this.#text)
    if (match === null) return item
    this.#at = REPETITION.lastIndex
    const [sign, low, comma, high] = match
    const least = sign === '+' ? 1 : Number(low ?? 0)
    if (sign === '*' || sign === '+' || (comma === ',' && high === ''))
      return [...this.#copies(item, least), this.#anyNumber(item)]
    const most = sign === '?' ? 1 : comma === '' ? least : Number(high)
    let optional: GrammarSymbol[] = []
    for (let count = least; count < most; count++)
      optional = [this.#newRule([[...this.#copies(item, 1), ...optional], []])]
    return [...this.#copies(item, least), ...optional]
  }

  #anyNumber(item: readonly GrammarSymbol[]): GrammarSymbol {
    const rule = this.#rules.length
    this.#rules.push([[...item, { rule }], []])
    return this.#counted({ rule })
  }

  #copies(item: readonly GrammarSymbol[], count: number): GrammarSymbol[] {
    this.#count(item.length * count)
    return Array.from({ length: count }, () => item).flat()
  }

  #literal(): GrammarSymbol[] {
    const read: GrammarSymbol[] = []
    while (!this.#accept('"')) {
      const code = this.#codePoint()
      read.push(this.#counted({ ranges: [[code, code]] }))
    }
    return read
  }

  #class(): Ranges {
    const negated = this.#accept('^')
    const read: [number, number][] = []
    while (!this.#accept(']')) {
      const from = this.#codePoint()
      const isRange = this.#text[this.#at] === '-' && this.#text[this.#at + 1] !== ']'
      if (isRange) this.#at++
      read.push([from, isRange ? this.#codePoint() : from])
    }
    return negated ? complement(merged(read)) : merged(read)
  }

  #codePoint(): number {
    const code = this.#text.codePointAt(this.#at)
    invariant(code !== undefined, 'a literal of the grammar ends')
    this.#at += code > 0xff_ff ? 2 : 1
    if (code !== BACKSLASH) return code
    const escaped = this.#text[this.#at++] ?? ''
    const digits = HEX_DIGITS[escaped]
    if (digits === undefined) return (ESCAPES[escaped] ?? escaped).codePointAt(0) ?? BACKSLASH
    const hex = this.#text.slice(this.#at, this.#at + digits)
    this.#at += digits
    return Number.parseInt(hex, 16)
  }

  /** A rule that other rules name before they know what it is. */
  #named(name: string): number {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    this.#names.set(name, this.#rules.length)
    return this.#rules.push([]) - 1
  }

  #newRule(alternatives: GrammarSymbol[][]): GrammarSymbol {
    return this.#counted({ rule: this.#rules.push(alternatives) - 1 })
  }

  #counted<Symbol extends GrammarSymbol>(symbol: Symbol): Symbol {
    this.#count(1)
    return symbol
  }

  #count(symbols: number): void {
    this.#symbols += symbols
    if (this.#symbols > SYMBOLS_MAX)
      throw refuse(this.#param, `its values are longer than ${SYMBOLS_MAX} characters and items`)
  }

  #skip(): void {
    SPACE.lastIndex = this.#at
    SPACE.exec(this.#text)
    this.#at = SPACE.lastIndex
  }

  #looksAt(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    return pattern.test(this.#text)
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [found] = pattern.exec(this.#text) ?? []
    invariant(found !== undefined, `the grammar can be read at ${this.#at}`)
    this.#at += found.length
    return found
  }

  #accept(text: string): boolean {
    const found = this.#text.startsWith(text, this.#at)
    if (found) this.#at += text.length
    return found
  }

  #expect(text: string): void {
    invariant(this.#accept(text), `the grammar has ${text} at ${this.#at}`)
  }
}

const BACKSLASH = 0x5c
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

/** Sorted, with those that touch made one. */
export function merged(ranges: Iterable<readonly [number, number]>): Ranges {
  const sorted = [...ranges].toSorted(([one], [other]) => one - other)
  const result: [number, number][] = []
  for (const [from, to] of sorted) {
    const last = result.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else result.push([from, to])
  }
  return result
}

function complement(ranges: Ranges): Ranges {
  const result: [number, number][] = []
  let next = 0
  for (const [from, to] of ranges) {
    if (from > next) result.push([next, from - 1])
    next = to + 1
  }
  if (next <= CODE_POINT_MAX) result.push([next, CODE_POINT_MAX])
  return result
}
