// The readings of a text that the engine follows: llama.cpp's stacks (llama-grammar.cpp), one by one.
import { parseGbnf, type Grammar, type GrammarSymbol } from './gbnf-reader.ts'

type Stack = { symbols: readonly GrammarSymbol[]; at: number; below: Stack | undefined; id: string }

/** The most at any place of the text; the text may end anywhere. */
export function mostReadings(gbnf: string, text: string): number {
  const grammar = parseGbnf(gbnf, 'grammar')
  let stacks = advance(grammar, [stackOf([{ rule: grammar.root }], 0, undefined)])
  let most = stacks.length
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    const after = stacks.flatMap((stack) => {
      const symbol = stack?.symbols[stack.at]
      if (stack === undefined || symbol === undefined || 'rule' in symbol) return []
      const fits = symbol.ranges.some(([from, to]) => from <= code && code <= to)
      return fits ? [stackOf(stack.symbols, stack.at + 1, stack.below)] : []
    })
    stacks = advance(grammar, after)
    most = Math.max(most, stacks.length)
  }
  return most
}

function advance({ rules }: Grammar, from: readonly (Stack | undefined)[]) {
  const seen = new Set<string>()
  const found: (Stack | undefined)[] = []
  const todo = [...from]
  while (todo.length > 0) {
    const stack = todo.pop()
    if (seen.has(stack?.id ?? '')) continue
    seen.add(stack?.id ?? '')
    const symbol = stack?.symbols[stack.at]
    if (stack === undefined || symbol === undefined || 'ranges' in symbol) found.push(stack)
    else {
      const after = stackOf(stack.symbols, stack.at + 1, stack.below)
      for (const alternative of rules[symbol.rule] ?? []) todo.push(stackOf(alternative, 0, after))
    }
  }
  return found
}

const names = new WeakMap<readonly GrammarSymbol[], number>()
let named = 0

function stackOf(
  symbols: readonly GrammarSymbol[],
  at: number,
  below: Stack | undefined,
): Stack | undefined {
  if (at >= symbols.length) return below
  const name = names.get(symbols) ?? ++named
  names.set(symbols, name)
  return { symbols, at, below, id: `${name}.${at} ${below?.id ?? ''}` }
}
