// A context-free grammar as data: every repetition has its counts, every rule its name.
import { invariant } from '#base/errors.ts'
import type { CharSet } from './char-set.ts'

export type Expr =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'chars'; readonly set: CharSet }
  | { readonly kind: 'seq'; readonly parts: readonly Expr[] }
  | { readonly kind: 'or'; readonly parts: readonly Expr[] }
  | { readonly kind: 'times'; readonly part: Expr; readonly least: number; readonly most: number }
  | { readonly kind: 'rule'; readonly name: string }

export type Grammar = { readonly root: Expr; readonly rules: ReadonlyMap<string, Expr> }

export function text(value: string): Expr {
  invariant(value.isWellFormed(), 'a text of a grammar is Unicode')
  return { kind: 'text', text: value }
}
export const chars = (set: CharSet): Expr => ({ kind: 'chars', set })
export const EMPTY: Expr = { kind: 'seq', parts: [] }

export const seq = (...parts: readonly Expr[]): Expr => sequence(parts)

/** For parts that are too many for arguments. */
export function sequence(parts: readonly Expr[]): Expr {
  const flat = parts.flatMap((part) => (part.kind === 'seq' ? part.parts : [part]))
  const [only] = flat
  return flat.length === 1 && only !== undefined ? only : { kind: 'seq', parts: flat }
}

export function or(parts: readonly Expr[]): Expr {
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : { kind: 'or', parts }
}

export const times = (part: Expr, least: number, most: number): Expr =>
  most === 0 ? EMPTY : { kind: 'times', part, least, most }

/**
 * One of several texts, each with its continuation. Shared beginnings are written once: the engine follows every
 * alternative that still fits, for each token that it considers.
 */
export function oneOfTexts(
  entries: readonly (readonly [string, Expr])[],
  rules: Rules,
  depth = 1,
): Expr {
  const groups = new Map<string, (readonly [string, Expr])[]>()
  for (const entry of entries) {
    const [first = ''] = entry[0]
    const group = groups.get(first)
    if (group === undefined) groups.set(first, [entry])
    else group.push(entry)
  }
  return or(
    [...groups].map(([first, group]) => {
      const shared = first === '' ? '' : sharedStart(group.map(([value]) => value))
      const rest = group.map(([value, then]) => [value.slice(shared.length), then] as const)
      const [only] = rest
      if (rest.length === 1 && only !== undefined) return seq(text(shared + only[0]), only[1])
      if (shared === '') return or(rest.map(([, then]) => then))
      const after = oneOfTexts(rest, rules, depth + 1)
      return seq(text(shared), depth % TEXTS_DEPTH_MAX === 0 ? rules.add(after) : after)
    }),
  )
}

/** Deeper texts are a rule of their own: expressions are read by recursion. */
const TEXTS_DEPTH_MAX = 64

/** The whole characters that all values begin with: a cut inside a surrogate pair is no text. */
function sharedStart([first = '', ...others]: readonly string[]): string {
  let shared = first
  for (const other of others) {
    let length = 0
    for (const character of shared) {
      if (!other.startsWith(character, length)) break
      length += character.length
    }
    shared = shared.slice(0, length)
  }
  return shared
}

/** Collects rules; the names mean nothing. */
export class Rules {
  readonly #rules = new Map<string, Expr>()
  readonly #shared = new Map<string, Expr | undefined>()
  #count = 0

  /** A name whose rule comes later. */
  reserve(): string {
    return `r${this.#count++}`
  }

  set(name: string, body: Expr): Expr {
    this.#rules.set(name, body)
    return { kind: 'rule', name }
  }

  add(body: Expr): Expr {
    return this.set(this.reserve(), body)
  }

  /** The rule of a key, made where it is asked for first; or that there is none. */
  shared<Made extends Expr | undefined>(
    key: string,
    make: () => Made,
  ): Expr | Extract<Made, undefined>
  shared(key: string, make: () => Expr | undefined): Expr | undefined {
    if (this.#shared.has(key)) return this.#shared.get(key)
    const made = make()
    const rule = made && this.add(made)
    this.#shared.set(key, rule)
    return rule
  }

  /**
   * The grammar without the alternatives that never end, as a list whose tail is a list again; undefined
   * when nothing is left. `spend` takes a step for each part that is looked at.
   */
  finished(root: Expr, spend: SpendSteps): Grammar | undefined {
    const order = referredFirst(root, this.#rules)
    const ending = endingRules(order, this.#rules, spend)
    const body = pruned(root, ending, spend)
    if (body === undefined) return undefined
    const rules = new Map<string, Expr>()
    for (const name of order) {
      const kept = ending.has(name) ? pruned(bodyOf(name, this.#rules), ending, spend) : undefined
      if (kept !== undefined) rules.set(name, kept)
    }
    return withoutCopies({ root: body, rules })
  }
}

type SpendSteps = (steps: number) => void

function bodyOf(name: string, rules: ReadonlyMap<string, Expr>): Expr {
  const body = rules.get(name)
  invariant(body !== undefined, `the grammar has the rule ${name}`)
  return body
}

/** The expression without the alternatives that never end; undefined when it never ends itself. */
function pruned(expr: Expr, ending: ReadonlySet<string>, spend: SpendSteps): Expr | undefined {
  spend(1)
  switch (expr.kind) {
    case 'text':
    case 'chars':
      return expr
    case 'rule':
      return ending.has(expr.name) ? expr : undefined
    case 'times': {
      const part = pruned(expr.part, ending, spend)
      if (part === undefined) return expr.least === 0 ? EMPTY : undefined
      return { ...expr, part }
    }
    case 'seq': {
      const parts = expr.parts.flatMap((part) => pruned(part, ending, spend) ?? [])
      return parts.length < expr.parts.length ? undefined : { kind: 'seq', parts }
    }
    case 'or': {
      const parts = expr.parts.flatMap((part) => pruned(part, ending, spend) ?? [])
      return parts.length === 0 ? undefined : or(parts)
    }
  }
}

/** The same grammar with one rule for all rules of one body. Expects a rule after those that it refers to. */
function withoutCopies({ root, rules }: Grammar): Grammar {
  const names = new Map<string, string>()
  const known = new Map<string, string>()
  const kept = new Map<string, Expr>()
  for (const [name, given] of rules) {
    const body = renamed(given, (one) => names.get(one) ?? one)
    const alias = body.kind === 'rule' ? body.name : undefined
    // A rule that repeats itself says the same as another one that does.
    const key = JSON.stringify(body, (_, part: unknown) => (part === name ? '' : part))
    const same = alias ?? known.get(key)
    if (same === undefined) kept.set(name, body)
    known.set(key, same ?? name)
    names.set(name, same ?? name)
  }
  const final = (one: string): string => names.get(one) ?? one
  return {
    root: renamed(root, final),
    rules: new Map([...kept].map(([name, body]) => [name, renamed(body, final)])),
  }
}

/** The names of all rules that are used, each after those that it refers to, except in a circle. */
function referredFirst(root: Expr, rules: ReadonlyMap<string, Expr>): readonly string[] {
  const seen = new Set<string>()
  const ordered: string[] = []
  const todo = ruleNames(root).map((name) => ({ name, isLeft: false }))
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const { name, isLeft } = next
    if (isLeft) ordered.push(name)
    if (isLeft || seen.has(name)) continue
    seen.add(name)
    todo.push({ name, isLeft: true })
    const body = rules.get(name)
    if (body !== undefined)
      for (const inner of ruleNames(body))
        if (!seen.has(inner)) todo.push({ name: inner, isLeft: false })
  }
  return ordered
}

function ruleNames(expr: Expr): readonly string[] {
  switch (expr.kind) {
    case 'seq':
    case 'or':
      return expr.parts.flatMap(ruleNames)
    case 'times':
      return ruleNames(expr.part)
    case 'rule':
      return [expr.name]
    default:
      return []
  }
}

function renamed(expr: Expr, nameOf: (name: string) => string): Expr {
  switch (expr.kind) {
    case 'seq':
    case 'or':
      return { kind: expr.kind, parts: expr.parts.map((part) => renamed(part, nameOf)) }
    case 'times':
      return { ...expr, part: renamed(expr.part, nameOf) }
    case 'rule':
      return { kind: 'rule', name: nameOf(expr.name) }
    default:
      return expr
  }
}

/**
 * The rules that some finite text fits. One pass settles all rules except circles: a rule is examined again when a
 * rule that it refers to turns out to end.
 */
function endingRules(
  order: readonly string[],
  rules: ReadonlyMap<string, Expr>,
  spend: SpendSteps,
): ReadonlySet<string> {
  const ending = new Set<string>()
  const waiting = new Map<string, string[]>()
  const todo = order.toReversed()
  for (let name = todo.pop(); name !== undefined; name = todo.pop()) {
    const body = rules.get(name)
    if (body === undefined || ending.has(name)) continue
    if (!endsWith(body, ending, spend)) {
      for (const inner of ruleNames(body)) if (!ending.has(inner)) push(waiting, inner, name)
      continue
    }
    ending.add(name)
    todo.push(...(waiting.get(name) ?? []))
    waiting.delete(name)
  }
  return ending
}

function push(lists: Map<string, string[]>, key: string, name: string): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [name])
  else list.push(name)
}

function endsWith(expr: Expr, ending: ReadonlySet<string>, spend: SpendSteps): boolean {
  spend(1)
  switch (expr.kind) {
    case 'text':
    case 'chars':
      return true
    case 'seq':
      return expr.parts.every((part) => endsWith(part, ending, spend))
    case 'or':
      return expr.parts.some((part) => endsWith(part, ending, spend))
    case 'times':
      return expr.least === 0 || endsWith(expr.part, ending, spend)
    case 'rule':
      return ending.has(expr.name)
  }
}
