// An automaton as rules of a grammar: one for each state where texts part, none for the stretches between.
import type { Automaton, AutomatonState } from './automaton.ts'
import type { CharSet } from './char-set.ts'
import { EMPTY, or, seq, type Expr, type Rules } from './grammar.ts'

/** `write` says how characters are written in the text that the grammar is of. */
export function automatonExpr(
  automaton: Automaton,
  rules: Rules,
  write: (set: CharSet) => Expr,
): Expr {
  const arrivals = automaton.map(() => 0)
  for (const state of automaton)
    for (const { next } of groups(state)) arrivals[next] = (arrivals[next] ?? 0) + 1
  const isStretch = (index: number): boolean => {
    const state = automaton[index]
    return (
      index !== 0 && state?.accepts === false && arrivals[index] === 1 && groups(state).length === 1
    )
  }
  const names = automaton.map((state, index) =>
    isStretch(index) || isLast(state) ? undefined : rules.reserve(),
  )
  const follow = ({ set, next }: MoveGroup): Expr => {
    const parts: Expr[] = [write(set)]
    let at = next
    for (; isStretch(at);) {
      const [only] = groups(automaton[at])
      if (only === undefined) break
      parts.push(write(only.set))
      at = only.next
    }
    const name = names[at]
    return seq(...parts, name === undefined ? EMPTY : { kind: 'rule', name })
  }
  for (const [index, state] of automaton.entries()) {
    const name = names[index]
    if (name === undefined) continue
    const ways = groups(state).map(follow)
    rules.set(name, or(state.accepts ? [...ways, EMPTY] : ways))
  }
  const [first] = names
  return first === undefined ? EMPTY : { kind: 'rule', name: first }
}

type MoveGroup = { readonly set: CharSet; readonly next: number }

/** The moves of a state by where they lead. */
function groups(state: AutomatonState | undefined): MoveGroup[] {
  const byTarget = new Map<number, [number, number][]>()
  for (const { from, to, next } of state?.moves ?? []) {
    const ranges = byTarget.get(next)
    if (ranges === undefined) byTarget.set(next, [[from, to]])
    else ranges.push([from, to])
  }
  return [...byTarget].map(([next, set]) => ({ set, next }))
}

const isLast = ({ accepts, moves }: AutomatonState): boolean => accepts && moves.length === 0
