// Deterministic automata that may call each other → GBNF.
import type { CharSet } from './char-set.ts'

export type Edge = { readonly next: number } & (
  | { readonly ranges: CharSet }
  | { readonly rule: number }
)
/** State 0 of a rule is its start. */
export type GrammarState = { readonly ends: boolean; readonly edges: readonly Edge[] }

/** A state is a rule of its own where texts part or meet; the stretches between are written at once. */
export function gbnfText(
  rules: ReadonlyMap<number, readonly GrammarState[]>,
  root: number,
): string {
  const lines: string[] = []
  for (const [rule, states] of rules) {
    const nameOf = (state: number) => `r${rule}-${state}`
    const isStretch = stretches(states)
    for (const [index, state] of states.entries()) {
      // A stretch is written where it is entered: written from each of its states, the text would be squared.
      if (isStretch(index) || isLast(state)) continue
      const ways = state.edges.map((edge) => sequence(edge, states, { nameOf, isStretch }))
      lines.push(`${nameOf(index)} ::= ${[...ways, ...(state.ends ? ['""'] : [])].join(' | ')}`)
    }
  }
  return [`root ::= r${root}-0`, ...lines].join('\n')
}

const isLast = (state: GrammarState | undefined) => state?.ends === true && state.edges.length === 0

/** Finds states with exactly one edge in and one edge out. */
function stretches(states: readonly GrammarState[]): (state: number) => boolean {
  const arrivals = states.map(() => 0)
  for (const { edges } of states)
    for (const { next } of edges) arrivals[next] = (arrivals[next] ?? 0) + 1
  return (state) =>
    state !== 0 &&
    arrivals[state] === 1 &&
    states[state]?.ends === false &&
    states[state].edges.length === 1
}

function sequence(
  first: Edge,
  states: readonly GrammarState[],
  { nameOf, isStretch }: { nameOf(state: number): string; isStretch(state: number): boolean },
): string {
  const parts: string[] = []
  let edge = first
  for (;;) {
    parts.push('rule' in edge ? `r${edge.rule}-0` : characters(edge.ranges))
    const [only] = states[edge.next]?.edges ?? []
    if (only === undefined || !isStretch(edge.next)) break
    edge = only
  }
  if (!isLast(states[edge.next])) parts.push(nameOf(edge.next))
  // Literals of one character beside each other are one.
  return parts.join(' ').replaceAll('" "', '')
}

function characters(ranges: CharSet): string {
  const [only] = ranges
  if (ranges.length === 1 && only?.[0] === only?.[1]) return `"${escaped(only?.[0] ?? 0)}"`
  return `[${ranges.map(([from, to]) => (from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`)).join('')}]`
}

const escaped = (code: number): string => {
  const character = String.fromCodePoint(code)
  return /^[A-Za-z0-9]$/.test(character) ? character : `\\U${code.toString(16).padStart(8, '0')}`
}
