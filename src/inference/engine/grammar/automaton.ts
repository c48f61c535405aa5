// Deterministic automata over characters. Everything that is said of one string or number is one automaton
// in the end: patterns and formats, lengths, ranges, multiples, and all of them at once. A
// grammar made of it has one reading of every text, so the engine never follows two.
import type { Budget } from './budget.ts'
import type { CharRange } from './char-set.ts'
import type { Regex } from './regex.ts'

export type Move = { readonly from: number; readonly to: number; readonly next: number }
export type AutomatonState = { readonly accepts: boolean; readonly moves: readonly Move[] }
/** State 0 is the first. Without states it accepts nothing; from every state some end is within reach. */
export type Automaton = readonly AutomatonState[]

export type AutomatonLimits = { readonly budget: Budget; readonly param: string }

/** The automaton of the texts that a regular expression fits from end to end. */
export function automatonOf(regex: Regex, { budget, param }: AutomatonLimits): Automaton {
  const spend = (steps: number) => budget.spend(steps, param)
  const nfa = createNfa(spend)
  const first = nfa.add()
  const last = nfa.build(regex, first)
  const start = nfa.reach([first], { atStart: true, atEnd: false })
  return explore(start, spend, (set, isFirst) => ({
    accepts: nfa.reach(set, { atStart: isFirst, atEnd: true }).includes(last),
    moves: sweep(
      set.flatMap((state) => nfa.movesOf(state)),
      spend,
    ).map(({ from, to, targets }) => ({
      from,
      to,
      next: nfa.reach(targets, { atStart: false, atEnd: false }),
    })),
  }))
}

type Node = {
  readonly moves: { readonly range: CharRange; readonly next: number }[]
  readonly skips: { readonly when: 'always' | 'start' | 'end'; readonly next: number }[]
}

function createNfa(spend: (steps: number) => void) {
  const nodes: Node[] = []
  const add = (): number => {
    spend(1)
    return nodes.push({ moves: [], skips: [] }) - 1
  }
  const skip = (from: number, next: number, when: 'always' | 'start' | 'end' = 'always'): void => {
    nodes[from]?.skips.push({ when, next })
  }
  /** Adds what leads from a state through the expression; returns where that ends. */
  const build = (regex: Regex, from: number): number => {
    const end = regex.kind === 'seq' ? from : add()
    switch (regex.kind) {
      case 'chars':
        spend(regex.set.length)
        for (const range of regex.set) nodes[from]?.moves.push({ range, next: end })
        return end
      case 'seq':
        return regex.parts.reduce((at, part) => build(part, at), from)
      case 'or':
        for (const part of regex.parts) skip(build(part, fork(from)), end)
        return end
      case 'times':
        return repeatFrom(regex, from, end)
      case 'start':
      case 'end':
        skip(from, end, regex.kind)
        return end
    }
  }
  const fork = (from: number): number => {
    const branch = add()
    skip(from, branch)
    return branch
  }
  const repeatFrom = (
    { part, least, most }: Extract<Regex, { kind: 'times' }>,
    from: number,
    end: number,
  ): number => {
    let at = fork(from)
    for (let count = 0; count < least; count++) at = build(part, fork(at))
    if (most === Number.POSITIVE_INFINITY) {
      const loop = fork(at)
      skip(build(part, fork(loop)), loop)
      skip(loop, end)
      return end
    }
    for (let count = least; count < most; count++) {
      // Any repetition may be the last: each has its own edge to the end. A chain would visit all later repetitions.
      skip(at, end)
      at = build(part, fork(at))
    }
    skip(at, end)
    return end
  }
  return {
    add,
    build,
    movesOf: (state: number) => nodes[state]?.moves ?? [],
    /** The states that are reached without a character, in ascending order. */
    reach(from: readonly number[], place: { atStart: boolean; atEnd: boolean }): readonly number[] {
      const seen = new Set(from)
      for (const state of seen)
        for (const { when, next } of nodes[state]?.skips ?? [])
          if (when === 'always' || (when === 'start' ? place.atStart : place.atEnd)) seen.add(next)
      spend(seen.size)
      return [...seen].toSorted((a, b) => a - b)
    },
  }
}

const COMPARISONS_PER_STEP = 16

/** Where ranges overlap, the targets of each stretch. */
function sweep(
  moves: readonly { readonly range: CharRange; readonly next: number }[],
  spend: (steps: number) => void,
) {
  const bounds = [...new Set(moves.flatMap(({ range: [from, to] }) => [from, to + 1]))].toSorted(
    (a, b) => a - b,
  )
  spend(Math.ceil((bounds.length * moves.length) / COMPARISONS_PER_STEP))
  return bounds.slice(0, -1).flatMap((from, index) => {
    const targets = moves.filter(({ range }) => range[0] <= from && from <= range[1])
    const to = (bounds[index + 1] ?? from) - 1
    return targets.length === 0
      ? []
      : [{ from, to, targets: [...new Set(targets.map(({ next }) => next))] }]
  })
}

type FoundMoves<Place> = {
  readonly accepts: boolean
  readonly moves: readonly { readonly from: number; readonly to: number; readonly next: Place }[]
}

/** The automaton of all places that are reached from the first, less those from which no end is. */
export function explore<Place extends readonly number[]>(
  first: Place,
  spend: (steps: number) => void,
  look: (place: Place, isFirst: boolean) => FoundMoves<Place>,
): Automaton {
  const places: Place[] = [first]
  const numbers = new Map<string, number>()
  const states: AutomatonState[] = []
  for (let index = 0; index < places.length; index++) {
    const place = places[index]
    if (place === undefined) break
    spend(1 + place.length)
    const { accepts, moves } = look(place, index === 0)
    spend(moves.length)
    const numbered = moves.map(({ from, to, next }) => {
      const key = next.join(' ')
      const known = numbers.get(key) ?? places.push(next) - 1
      numbers.set(key, known)
      return { from, to, next: known }
    })
    states.push({ accepts, moves: joined(numbered) })
  }
  return withoutDeadEnds(states)
}

/** Neighbouring ranges of one target as one. */
function joined(moves: readonly Move[]): Move[] {
  const out: Move[] = []
  for (const move of moves) {
    const last = out.at(-1)
    if (last !== undefined && last.next === move.next && last.to + 1 === move.from)
      out[out.length - 1] = { ...last, to: move.to }
    else out.push(move)
  }
  return out
}

function withoutDeadEnds(states: readonly AutomatonState[]): Automaton {
  const before = states.map((): number[] => [])
  for (const [index, { moves }] of states.entries())
    for (const { next } of moves) before[next]?.push(index)
  const live = new Set(states.flatMap(({ accepts }, index) => (accepts ? [index] : [])))
  for (const state of live) for (const earlier of before[state] ?? []) live.add(earlier)
  if (!live.has(0)) return []
  const numbers = new Map([...live].toSorted((a, b) => a - b).map((state, index) => [state, index]))
  return [...numbers.keys()].map((state) => ({
    accepts: states[state]?.accepts === true,
    moves: (states[state]?.moves ?? []).flatMap((move) => {
      const next = numbers.get(move.next)
      return next === undefined ? [] : [{ ...move, next }]
    }),
  }))
}

/** The texts that both accept. */
export const intersection = (
  one: Automaton,
  other: Automaton,
  limits: AutomatonLimits,
): Automaton => product(one, other, limits, 'both')

/** The texts that the first accepts and the other does not. */
export const difference = (one: Automaton, other: Automaton, limits: AutomatonLimits): Automaton =>
  product(one, other, limits, 'first')

/** In place of a state of the second: it accepts nothing any more. */
const NOWHERE = -1

function product(
  one: Automaton,
  other: Automaton,
  { budget, param }: AutomatonLimits,
  who: 'both' | 'first',
): Automaton {
  if (one.length === 0) return []
  const first: readonly [number, number] = [0, other.length === 0 ? NOWHERE : 0]
  return explore<readonly [number, number]>(
    first,
    (steps) => budget.spend(steps, param),
    ([a, b]) => {
      const mine = one[a] ?? { accepts: false, moves: [] }
      const theirs = other[b] ?? { accepts: false, moves: [] }
      return {
        accepts: mine.accepts && theirs.accepts === (who === 'both'),
        moves: mine.moves.flatMap((move) =>
          split(move, theirs.moves).flatMap(({ from, to, next }) =>
            next === NOWHERE && who === 'both'
              ? []
              : [{ from, to, next: [move.next, next] as const }],
          ),
        ),
      }
    },
  )
}

/** A move cut where those of another automaton begin and end; `next` is the other's target. */
function split({ from, to }: Move, others: readonly Move[]): Move[] {
  const parts: Move[] = []
  let at = from
  for (const other of others) {
    if (other.to < at || other.from > to) continue
    if (other.from > at) parts.push({ from: at, to: other.from - 1, next: NOWHERE })
    parts.push({ from: Math.max(at, other.from), to: Math.min(to, other.to), next: other.next })
    at = other.to + 1
  }
  if (at <= to) parts.push({ from: at, to, next: NOWHERE })
  return parts
}

/** True when the automaton accepts a text. */
export function accepts(automaton: Automaton, value: string): boolean {
  let state = automaton[0]
  for (const character of value) {
    const code = character.codePointAt(0) ?? 0
    const move = state?.moves.find(({ from, to }) => from <= code && code <= to)
    state = move === undefined ? undefined : automaton[move.next]
  }
  return state?.accepts === true
}
