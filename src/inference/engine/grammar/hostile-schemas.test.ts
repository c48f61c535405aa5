// Schemas of some hundred KB that ask for work without end. The cost of their grammars is counted as reads of the
// schema, not timed: every other caller of the model waits for it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErgonError } from '#base/errors.ts'
import { STEPS_MAX } from './budget.ts'
import { formatGrammar } from './request-grammar.ts'

const range = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
const properties = (count: number, make: (index: number) => object) =>
  Object.fromEntries(range(count, (index) => [`p${index}`, make(index)]))
const referring = (count: number, d: object) => ({
  type: 'object',
  properties: properties(count, () => ({ $ref: '#/$defs/d' })),
  $defs: { d },
})

/** Each name needs the one that was listed before: one more is found with each pass over all of them. */
const chain = (count: number) => ({
  type: 'object',
  properties: { a0: { type: 'null' } },
  dependentRequired: Object.fromEntries(
    range(count, (index) => [`a${count - index - 1}`, [`a${count - index}`]]),
  ),
})

const HOSTILE: Readonly<Record<string, object>> = {
  'a chain of names that need each other': chain(8000),
  'a long allOf': { allOf: range(12_000, () => ({})) },
  'a definition of unknown keywords, used 300 times': referring(
    300,
    properties(20_000, () => ({})),
  ),
  'a long enum, used 300 times': referring(300, { enum: range(20_000, (index) => `v${index}`) }),
  'a long list of types': { type: range(100_000, () => 'null') },
  'many properties under a bound': {
    type: 'object',
    properties: properties(10_000, () => ({ type: 'null' })),
    maxProperties: 5000,
  },
}

/** The same value, which counts each read of a field. */
function watched<T extends object>(value: T, count: () => void): T {
  const known = new WeakMap<object, object>()
  const watch = (one: unknown): unknown => {
    if (typeof one !== 'object' || one === null) return one
    const before = known.get(one)
    if (before !== undefined) return before
    const made = new Proxy(one, {
      get: (target, key, receiver) => {
        count()
        return watch(Reflect.get(target, key, receiver))
      },
      ownKeys: (target) => {
        const keys = Reflect.ownKeys(target)
        for (const _ of keys) count()
        return keys
      },
    })
    known.set(one, made)
    return made
  }
  return watch(value) as T
}

/** Spreading, mapping and checking look at a field several times for each step. */
const LOOKS_A_STEP = 8

function looksAt(schema: object): number {
  let looks = 0
  const counted = watched(schema, () => looks++)
  try {
    formatGrammar(counted as Record<string, unknown>, 'schema', false)
  } catch (error) {
    assert.ok(error instanceof ErgonError && error.code === 'invalid_request', String(error))
  }
  return looks
}

for (const [name, schema] of Object.entries(HOSTILE))
  test(`formatGrammar() looks at ${name} within its budget`, () => {
    const looks = looksAt(schema)
    assert.ok(looks <= STEPS_MAX * LOOKS_A_STEP, `${looks} looks`)
  })
