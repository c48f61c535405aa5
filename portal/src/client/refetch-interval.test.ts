// A page that is left open costs nearly nothing: each read by a clock has a condition, or comes no oftener than each 10 s.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const AT_REST_MS_MIN = 10_000
const SOURCES = `${import.meta.dirname}/../**/*.{ts,tsx}`
const INTERVAL = /refetchInterval:\s*([^]*?)(?:,\n| \}\)\n)/g
/** Conditions that have a name; each is of a card on its way, for ten minutes at most. */
const NAMED = ['againWhileOnItsWay']

/** Milliseconds that a word stands for in a source; none are needed for `false`. */
function restMs(word: string, source: string): number {
  if (word === 'false') return Infinity
  const [, digits] = new RegExp(`const ${word} = ([\\d_]+)`).exec(source) ?? []
  return Number((digits ?? '0').replaceAll('_', ''))
}

/** The interval of a page at rest: what stands behind the last colon of a condition, or the only word. */
function atRestMs(interval: string, source: string): number {
  if (NAMED.includes(interval)) return Infinity
  return restMs(/(\w+)\)?$/.exec(interval)?.[1] ?? '', source)
}

const found = globSync(SOURCES, { exclude: ['**/*.test.ts'] }).flatMap((path) => {
  const source = readFileSync(path, 'utf8')
  return [...source.matchAll(INTERVAL)].map(([, interval = '']) => ({ path, source, interval }))
})

test('refetchInterval of every page is conditional, or at least ten seconds', () => {
  assert.ok(found.length > 20, `found ${found.length}`)
  for (const { path, source, interval } of found)
    assert.ok(atRestMs(interval, source) >= AT_REST_MS_MIN, `${path}: ${interval}`)
})

test('refetchInterval of five seconds without a condition is seen', () => {
  const source = 'const SHOWN_MS = 5_000\nconst SLOW_MS = 60_000'
  assert.equal(atRestMs('SHOWN_MS', source), 5_000)
  assert.equal(atRestMs('({ state }) => (state.data ? SLOW_MS : SHOWN_MS)', source), 5_000)
  assert.equal(atRestMs('({ state }) => (state.data ? SHOWN_MS : false)', source), Infinity)
})
