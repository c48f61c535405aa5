// A grammar as a tree → rules that are lists of alternatives of symbols, and nothing else: groups and
// repetitions have become rules of their own.
import { invariant } from '#base/errors.ts'
import { refuse } from '#inference/engine/fields.ts'
import { charSet, type CharSet } from './char-set.ts'
import type { Expr, Grammar } from './grammar.ts'

export type GrammarSymbol = { readonly set: CharSet } | { readonly rule: number }
export type Rule = readonly (readonly GrammarSymbol[])[]
export type RuleGrammar = { readonly rules: readonly Rule[]; readonly root: number }

/** Repetitions are copies: 1,000 items of 100 symbols each, or 100 strings of up to 1,000 characters. */
export const SYMBOLS_MAX = 100_000

/** Throws `invalid_request` for `param` beyond SYMBOLS_MAX. */
export function rulesOf({ root, rules }: Grammar, param: string): RuleGrammar {
  const writer = new RuleWriter(param)
  const first = writer.add(root)
  for (const [name, body] of rules) writer.define(name, body)
  return { rules: writer.written(), root: first }
}

class RuleWriter {
  readonly #param: string
  readonly #rules: Rule[] = []
  readonly #numbers = new Map<string, number>()
  #symbols = 0

  constructor(param: string) {
    this.#param = param
  }

  /** A rule without a name. */
  add(body: Expr): number {
    return this.#rules.push(this.#alternatives(body)) - 1
  }

  define(name: string, body: Expr): void {
    this.#rules[this.#named(name)] = this.#alternatives(body)
  }

  written(): readonly Rule[] {
    for (const [name, number] of this.#numbers)
      invariant(this.#rules[number]?.length !== 0, `the grammar has the rule ${name}`)
    return this.#rules
  }

  #alternatives(expr: Expr): Rule {
    return expr.kind === 'or'
      ? expr.parts.flatMap((part) => this.#alternatives(part))
      : [this.#sequence(expr)]
  }

  #sequence(expr: Expr): readonly GrammarSymbol[] {
    switch (expr.kind) {
      case 'text':
        return [...expr.text].map((character) => {
          const code = character.codePointAt(0) ?? 0
          return this.#counted({ set: [[code, code]] })
        })
      case 'chars':
        return [this.#counted({ set: charSet(expr.set) })]
      case 'rule':
        return [this.#counted({ rule: this.#named(expr.name) })]
      case 'seq':
        return expr.parts.flatMap((part) => this.#sequence(part))
      case 'or':
        return [this.#counted({ rule: this.add(expr) })]
      case 'times':
        return this.#repeated(expr)
    }
  }

  #repeated({ part, least, most }: Extract<Expr, { kind: 'times' }>): readonly GrammarSymbol[] {
    const isSingle = part.kind === 'chars' || part.kind === 'rule'
    const [item] = isSingle ? this.#sequence(part) : [this.#counted({ rule: this.add(part) })]
    invariant(item !== undefined, 'a repetition has a part')
    this.#count(least)
    const sure = Array.from({ length: least }, () => item)
    if (most === Number.POSITIVE_INFINITY) return [...sure, this.#anyNumber(item)]
    let optional: GrammarSymbol[] = []
    for (let count = least; count < most; count++)
      optional = [this.#newRule([[this.#counted(item), ...optional], []])]
    return [...sure, ...optional]
  }

  #anyNumber(item: GrammarSymbol): GrammarSymbol {
    const rule = this.#rules.length
    return this.#newRule([[item, { rule }], []])
  }

  #newRule(alternatives: Rule): GrammarSymbol {
    return this.#counted({ rule: this.#rules.push(alternatives) - 1 })
  }

  /** The number of a rule that others may name before it is defined. */
  #named(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    this.#numbers.set(name, this.#rules.length)
    return this.#rules.push([]) - 1
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
}
