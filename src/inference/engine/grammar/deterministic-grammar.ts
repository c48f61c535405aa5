// Turns a grammar into one of the same texts that has a single reading of every beginning. llama.cpp follows all
// readings of a text at once and tests each against every token, between two steps that all requests wait for. Unions
// of arrays of unions of arrays (5 KB of schema) made 4,096 readings by the fourth bracket, 3.8 s for a token, and 8
// times as many with each further bracket.
//
// A rule's readings are followed together, as a set of stacks, character by character. Where all of them go through
// one rule next, that rule is followed once, by itself. So nesting adds where it multiplied. A grammar whose readings
// cannot be separated within WORK_MAX is refused.
import { refuse } from '#inference/engine/fields.ts'
import { charSet, type CharSet } from './char-set.ts'
import type { Grammar } from './grammar.ts'
import { rulesOf, type GrammarSymbol, type Rule, type RuleGrammar } from './grammar-rules.ts'
import { gbnfText, type Edge, type GrammarState } from './grammar-states.ts'

/**
 * Readings and characters that are looked at: 0.4 s of CPU at most. A string of up to 1,000 characters takes
 * 48,000, a URI or 800 properties 45,000, unions of eight arrays at eight levels 9,000.
 */
export const WORK_MAX = 250_000
/** Ways to go on after a text. Each takes 0.2 ms more per token: 500 take 105 ms, 50 take 11 (SmolLM2). */
export const WAYS_MAX = 500

/**
 * The same language, deterministic. Throws `invalid_request` for `param` where that would be too large, or
 * no text fits.
 */
export function deterministicGrammar(given: Grammar, param: string): string {
  const grammar = grouped(rulesOf(given, param))
  const budget = createWorkBudget(param)
  const empty = nullable(grammar.rules)
  // The first exploration takes every tail for empty. Each exploration finds tails, and the next one uses them,
  // until no tail changes. Tails only grow, so this ends. A tail that is too large costs work, but changes no
  // text: a rule is then followed together with others instead of by itself.
  for (let tails: RuleTails = new Map(); ;) {
    const found = new Explorer({ grammar, empty, tails, budget }).explore()
    if (isSame(found.tails, tails)) return gbnfText(found.states, grammar.root)
    tails = found.tails
  }
}

type WorkBudget = { spend(work: number): void; refuse(detail: string): never }

function createWorkBudget(param: string): WorkBudget {
  let left = WORK_MAX
  const give = (detail: string): never => {
    throw refuse(param, detail)
  }
  return {
    spend(work) {
      left -= work
      if (left < 0)
        give(
          'its values are too long, or too many of them begin alike: name a property first that tells them apart',
        )
    },
    refuse: give,
  }
}

/** Characters that extend a text of the rule to a longer text of the rule. */
type RuleTails = ReadonlyMap<number, CharSet>

const isSame = (one: RuleTails, other: RuleTails) =>
  one.size === other.size &&
  [...one].every(([rule, ranges]) => JSON.stringify(ranges) === JSON.stringify(other.get(rule)))

/** Alternatives as rules of their own: recursion through one of them is then seen to be of one rule. */
function grouped({ rules, root }: RuleGrammar): RuleGrammar {
  const all = [...rules]
  for (const [index, rule] of rules.entries()) {
    if (rule.length < 2 || rule.some((alternative) => alternative.length === 0)) continue
    all[index] = rule.map((alternative) =>
      alternative.length < 2 ? alternative : [{ rule: all.push([alternative]) - 1 }],
    )
  }
  return { rules: all, root }
}

/** Rules that have the empty text. Each symbol is looked at once. */
function nullable(rules: readonly Rule[]): ReadonlySet<number> {
  type Alternative = { readonly rule: number; left: number }
  const found = new Set<number>()
  const waiting = new Map<number, Alternative[]>()
  for (const [rule, alternatives] of rules.entries())
    for (const symbols of alternatives) {
      if (symbols.length === 0) found.add(rule)
      const alternative = { rule, left: symbols.length }
      if (symbols.every((symbol) => 'rule' in symbol))
        for (const symbol of symbols) push(waiting, symbol.rule, alternative)
    }
  // The set grows while it is read.
  for (const empty of found)
    for (const alternative of waiting.get(empty) ?? [])
      if (--alternative.left === 0) found.add(alternative.rule)
  return found
}

/** Where a reading stands: the symbols left of its alternative, then those of its callers. */
type Stack = {
  readonly id: number
  readonly symbols: readonly GrammarSymbol[]
  readonly at: number
  readonly below: Stack | undefined
}
/** A reading that has ended is undefined. */
type OpenReading = Stack | undefined
/** A rule that a reading is in, and its continuation. */
type Within =
  | { readonly rule: number; readonly after: OpenReading; readonly outer: Within }
  | undefined
/** A character that may come next in one reading, what is left then, and the rules that it begins. */
type Item = { readonly ranges: CharSet; readonly next: OpenReading; readonly within: Within }
/** Readings that go on together, and what may come next. */
type Readings = {
  readonly items: readonly Item[]
  readonly ends: boolean
  /** Rules that lead to the same stack as another one: they are not followed by themselves. */
  readonly twice: ReadonlySet<number>
  /**
   * Present when there is a single reading, only this rule is left of it, and the rule has the empty text. The
   * states of automata are such rules.
   */
  readonly last: number | undefined
}
type CharClass = { readonly from: number; readonly to: number; readonly of: readonly Item[] }

type Exploration = {
  readonly grammar: RuleGrammar
  /** The rules that have the empty text. */
  readonly empty: ReadonlySet<number>
  readonly tails: RuleTails
  readonly budget: WorkBudget
}

class Explorer {
  readonly #grammar: RuleGrammar
  readonly #nullable: ReadonlySet<number>
  readonly #tails: RuleTails
  readonly #budget: WorkBudget
  readonly #stacks = new StackTable()
  readonly #found = new Map<number, GrammarState[]>()
  readonly #todo: number[] = []
  readonly #newTails = new Map<number, CharSet>()
  /** The rules that end with a rule, by that rule. */
  readonly #endedBy = new Map<number, Set<number>>()

  constructor({ grammar, empty, tails, budget }: Exploration) {
    this.#grammar = grammar
    this.#nullable = empty
    this.#tails = tails
    this.#budget = budget
  }

  /** The states of every rule that is followed by itself. */
  explore(): { states: Map<number, GrammarState[]>; tails: RuleTails } {
    this.#follow(this.#grammar.root)
    for (let rule = this.#todo.pop(); rule !== undefined; rule = this.#todo.pop())
      this.#exploreRule(rule)
    this.#passTailsOn()
    return { states: this.#found, tails: this.#newTails }
  }

  /** A rule that ends with another one goes on as that does, through any number of rules. */
  #passTailsOn(): void {
    for (const [rule, ranges] of this.#tails) this.#addTail(rule, ranges)
    const todo = [...this.#newTails.keys()]
    for (let inner = todo.pop(); inner !== undefined; inner = todo.pop())
      for (const rule of this.#endedBy.get(inner) ?? []) {
        this.#budget.spend(1)
        const before = JSON.stringify(this.#newTails.get(rule))
        this.#addTail(rule, this.#newTails.get(inner) ?? [])
        if (JSON.stringify(this.#newTails.get(rule)) !== before) todo.push(rule)
      }
  }

  #endsWith(rule: number, inner: number): void {
    const rules = this.#endedBy.get(inner)
    if (rules === undefined) this.#endedBy.set(inner, new Set([rule]))
    else rules.add(rule)
  }

  #follow(rule: number): void {
    if (this.#found.has(rule)) return
    this.#found.set(rule, [])
    this.#todo.push(rule)
  }

  #exploreRule(rule: number): void {
    const states = this.#found.get(rule) ?? []
    const numbers = new Map<string, number>()
    const sets: Readings[] = []
    const numberOf = (all: readonly OpenReading[]): number => {
      const ids = all.map((stack) => stack?.id ?? 0)
      const key = ids.length === 1 ? String(ids[0]) : ids.toSorted((a, b) => a - b).join()
      const known = numbers.get(key)
      if (known !== undefined) return known
      this.#budget.spend(1)
      numbers.set(key, sets.length)
      return sets.push(this.#readings(all, sets.length === 0 ? rule : undefined)) - 1
    }
    numberOf([this.#stacks.of([{ rule }], 0, undefined)])
    for (let index = 0; index < sets.length; index++) {
      const set = sets[index]
      if (set === undefined) continue
      if (set.items.length === 0 && !set.ends) this.#budget.refuse('no value fits the schema')
      if (set.ends) this.#addTail(rule, rangesOf(set.items))
      if (set.last !== undefined) {
        this.#endsWith(rule, set.last)
        this.#follow(set.last)
        states.push({ ends: false, edges: [{ rule: set.last, next: numberOf([undefined]) }] })
        continue
      }
      states.push({ ends: set.ends, edges: this.#edges(rule, set, { numberOf, sets }) })
    }
  }

  #addTail(rule: number, ranges: CharSet): void {
    if (ranges.length > 0)
      this.#newTails.set(rule, charSet([...(this.#newTails.get(rule) ?? []), ...ranges]))
  }

  /** Every character that may come next. `itself`: a rule is not followed by itself at its start. */
  #readings(all: readonly OpenReading[], itself: number | undefined): Readings {
    const items: Item[] = []
    const seen = new Set<Stack>()
    const twice = new Set<number>()
    let ends = false
    const todo = all.map((stack) => ({ stack, within: undefined as Within }))
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      const { stack, within } = next
      if (stack === undefined) ends = true
      if (stack === undefined) continue
      if (seen.has(stack)) {
        for (let one = within; one !== undefined; one = one.outer) twice.add(one.rule)
        continue
      }
      seen.add(stack)
      this.#budget.spend(1)
      const symbol = stack.symbols[stack.at]
      if (symbol === undefined) continue
      const after = this.#stacks.of(stack.symbols, stack.at + 1, stack.below)
      if ('set' in symbol) {
        items.push({ ranges: symbol.set, next: after, within })
        continue
      }
      const { rule } = symbol
      const isPart = rule === itself || this.#nullable.has(rule)
      const inside = isPart ? within : { rule, after, outer: within }
      for (const alternative of this.#grammar.rules[rule] ?? [])
        todo.push({ stack: this.#stacks.of(alternative, 0, after), within: inside })
    }
    return { items, ends, twice, last: this.#lastRule(all, itself) }
  }

  /** A rule without empty text needs no such care: it is followed by itself like any other. */
  #lastRule(
    [stack, another]: readonly OpenReading[],
    itself: number | undefined,
  ): number | undefined {
    if (stack === undefined || another !== undefined || stack.below !== undefined) return undefined
    const symbol = stack.symbols[stack.at]
    if (symbol === undefined || 'set' in symbol || stack.at + 1 < stack.symbols.length)
      return undefined
    return symbol.rule !== itself && this.#nullable.has(symbol.rule) ? symbol.rule : undefined
  }

  /** The ways on: by a rule where no reading outside of it begins alike, else by characters. */
  #edges(
    explored: number,
    { items, twice }: Readings,
    {
      numberOf,
      sets,
    }: { numberOf(all: readonly OpenReading[]): number; sets: readonly Readings[] },
  ): Edge[] {
    const [only] = items
    // Most of a grammar is the one way through a name.
    if (items.length === 1 && only !== undefined && only.within === undefined)
      return [{ ranges: only.ranges, next: numberOf([only.next]) }]
    const classes = this.#classes(items)
    const { inside, mixed } = this.#rulesIn(items, classes)
    const taken = new Set<Item>()
    const edges: Edge[] = []
    for (const [rule, members] of inside) {
      const [first] = members.keys()
      if (mixed.has(rule) || twice.has(rule) || first === undefined || taken.has(first)) continue
      const next = numberOf([...new Set(members.values())])
      const tail = this.#tails.get(rule) ?? []
      const after = sets[next]
      // The rule's end would have to be guessed: its readings are followed among the others.
      if (after === undefined || overlap(tail, rangesOf(after.items))) continue
      if (after.ends) this.#endsWith(explored, rule)
      this.#follow(rule)
      for (const item of members.keys()) taken.add(item)
      edges.push({ rule, next })
    }
    const byTarget = new Map<number, [number, number][]>()
    for (const { from, to, of } of classes) {
      if (of.some((item) => taken.has(item))) continue
      const next = numberOf([...new Set(of.map((item) => item.next))])
      const ranges = byTarget.get(next) ?? []
      ranges.push([from, to])
      byTarget.set(next, ranges)
    }
    for (const [next, ranges] of byTarget) edges.push({ ranges, next })
    if (edges.length > WAYS_MAX)
      this.#budget.refuse(`a value can go on in more than ${WAYS_MAX} ways`)
    return edges
  }

  /** Characters that are in the same items. */
  #classes(items: readonly Item[]): CharClass[] {
    const starts = new Map<number, Item[]>()
    const ends = new Map<number, Item[]>()
    for (const item of items)
      for (const [from, to] of item.ranges) {
        push(starts, from, item)
        push(ends, to + 1, item)
      }
    const bounds = [...new Set([...starts.keys(), ...ends.keys()])].toSorted((a, b) => a - b)
    const current = new Set<Item>()
    const classes: CharClass[] = []
    for (const [index, from] of bounds.entries()) {
      for (const item of ends.get(from) ?? []) current.delete(item)
      for (const item of starts.get(from) ?? []) current.add(item)
      this.#budget.spend(current.size)
      if (current.size > 0)
        classes.push({ from, to: (bounds[index + 1] ?? from + 1) - 1, of: [...current] })
    }
    return classes
  }

  /** The items that begin each rule and what follows it there, outer rules first; and who begins alike. */
  #rulesIn(items: readonly Item[], classes: readonly CharClass[]) {
    const inside = new Map<number, Map<Item, OpenReading>>()
    for (const item of items)
      for (const { rule, after } of rulesAround(item)) {
        this.#budget.spend(1)
        const members = inside.get(rule)
        if (members === undefined) inside.set(rule, new Map([[item, after]]))
        else members.set(item, after)
      }
    const mixed = new Set<number>()
    for (const { of } of classes) {
      const counts = new Map<number, number>()
      for (const item of of)
        for (const { rule } of rulesAround(item)) counts.set(rule, (counts.get(rule) ?? 0) + 1)
      for (const [rule, count] of counts) if (count !== of.length) mixed.add(rule)
    }
    return { inside, mixed }
  }
}

/** One object for equal stacks; a stack that is at its end is the one below. */
class StackTable {
  readonly #stacks = new Map<string, Stack>()
  readonly #ids = new Map<readonly GrammarSymbol[], number>()

  of(symbols: readonly GrammarSymbol[], at: number, below: OpenReading): OpenReading {
    if (at >= symbols.length) return below
    const key = `${this.#idOf(symbols)} ${at} ${below?.id ?? 0}`
    const known = this.#stacks.get(key)
    if (known !== undefined) return known
    const made = { id: this.#stacks.size + 1, symbols, at, below }
    this.#stacks.set(key, made)
    return made
  }

  #idOf(symbols: readonly GrammarSymbol[]): number {
    const known = this.#ids.get(symbols)
    if (known !== undefined) return known
    this.#ids.set(symbols, this.#ids.size)
    return this.#ids.size - 1
  }
}

function push<Value>(lists: Map<number, Value[]>, key: number, item: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}

/** The outermost first. A rule that begins with itself is there once, as a set of readings has it. */
function rulesAround({ within }: Item): Exclude<Within, undefined>[] {
  const rules = new Map<number, Exclude<Within, undefined>>()
  for (let one = within; one !== undefined; one = one.outer) rules.set(one.rule, one)
  return [...rules.values()].toReversed()
}

const rangesOf = (items: readonly Item[]): CharSet => charSet(items.flatMap((item) => item.ranges))

const overlap = (one: CharSet, other: CharSet): boolean =>
  one.some(([from, to]) => other.some(([low, high]) => low <= to && high >= from))
