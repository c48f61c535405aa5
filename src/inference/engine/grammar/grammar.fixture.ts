// The meaning of a grammar, written a second time for tests: a test of texts, and texts that fit.
import type { Expr, Grammar } from './grammar.ts'

/** True when a text fits from end to end. Slow, and follows every reading: for short texts. */
export function fits(grammar: Grammar, value: string): boolean {
  const characters = [...value]
  const ends = (expr: Expr, from: ReadonlySet<number>): Set<number> => {
    switch (expr.kind) {
      case 'text': {
        const wanted = [...expr.text]
        const there = [...from].filter((at) =>
          wanted.every((each, i) => characters[at + i] === each),
        )
        return new Set(there.map((at) => at + wanted.length))
      }
      case 'chars':
        return new Set(
          [...from]
            .filter((at) => {
              const code = characters[at]?.codePointAt(0)
              return (
                code !== undefined && expr.set.some(([low, high]) => low <= code && code <= high)
              )
            })
            .map((at) => at + 1),
        )
      case 'seq':
        return expr.parts.reduce<Set<number>>((at, part) => ends(part, at), new Set(from))
      case 'or':
        return new Set(expr.parts.flatMap((part) => [...ends(part, from)]))
      case 'times': {
        const found = new Set<number>()
        let at = new Set(from)
        for (let count = 0; count <= expr.most && at.size > 0; count++) {
          if (count >= expr.least) for (const each of at) found.add(each)
          at = ends(expr.part, at)
        }
        return found
      }
      case 'rule': {
        const body = grammar.rules.get(expr.name)
        return body === undefined || from.size === 0 ? new Set() : ends(body, from)
      }
    }
  }
  return ends(grammar.root, new Set([0])).has(characters.length)
}

/** A text that fits, by chance. `random` gives numbers from 0 to 1; long texts are steered to their end. */
export function sample({ root, rules }: Grammar, random: () => number): string {
  const depths = shortest(rules)
  const depthOf = (expr: Expr) => depthOver(expr, depths)
  let steps = 0
  const pick = <T>(values: readonly T[]): T | undefined =>
    values[Math.floor(random() * values.length)]
  const write = (expr: Expr): string => {
    const isLong = ++steps > STEPS_MAX
    switch (expr.kind) {
      case 'text':
        return expr.text
      case 'chars': {
        const [low, high] = pick(expr.set) ?? [0, 0]
        return String.fromCodePoint(low + Math.floor(random() * (high - low + 1)))
      }
      case 'seq':
        return expr.parts.map(write).join('')
      case 'or': {
        const least = Math.min(...expr.parts.map(depthOf))
        const ways = isLong ? expr.parts.filter((part) => depthOf(part) === least) : expr.parts
        return write(pick(ways) ?? expr)
      }
      case 'times': {
        const more = isLong ? 0 : Math.floor(random() * (Math.min(expr.most - expr.least, 8) + 1))
        return Array.from({ length: expr.least + more }, () => write(expr.part)).join('')
      }
      case 'rule':
        return write(rules.get(expr.name) ?? expr)
    }
  }
  return write(root)
}

const STEPS_MAX = 400

/** The least depth of each rule in rules: the way to an end. */
function shortest(rules: ReadonlyMap<string, Expr>): ReadonlyMap<string, number> {
  const depths = new Map<string, number>()
  for (let changed = true; changed;) {
    changed = false
    for (const [name, body] of rules) {
      const depth = 1 + depthOver(body, depths)
      if (depth >= (depths.get(name) ?? Number.POSITIVE_INFINITY)) continue
      depths.set(name, depth)
      changed = true
    }
  }
  return depths
}

function depthOver(expr: Expr, depths: ReadonlyMap<string, number>): number {
  switch (expr.kind) {
    case 'text':
    case 'chars':
      return 0
    case 'seq':
      return Math.max(0, ...expr.parts.map((part) => depthOver(part, depths)))
    case 'or':
      return Math.min(...expr.parts.map((part) => depthOver(part, depths)))
    case 'times':
      return expr.least === 0 ? 0 : depthOver(expr.part, depths)
    case 'rule':
      return depths.get(expr.name) ?? Number.POSITIVE_INFINITY
  }
}
