// A page that is left open costs nearly nothing and does not stand still. A read by a clock comes no oftener than each 10 s
// at rest. A read without a clock at rest follows the live stream, or has ended.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const AT_REST_MS_MIN = 10_000
const SOURCES = `${import.meta.dirname}/../**/*.{ts,tsx}`
const INTERVAL = /refetchInterval:\s*([^]*?)(?:,\n| \}\)\n)/g
/** Conditions that have a name; each is of a card on its way, for ten minutes at most. */
const NAMED = ['againWhileOnItsWay']

/** Sources whose reads end: a signed receipt, the queries of a database asleep, the usage of a range that is over. */
const ENDING = ['ledger/receipt.tsx', 'databases/queries.tsx', 'usage/use-usage.ts']
const LIVE = /\buse(?:Live|Charges|ResourceChanges)\(/

/** True for a read that nothing has made again, once the page is at rest. */
const standsStill = (interval: string, source: string): boolean =>
  /\bfalse\)?$/.test(interval) && !LIVE.test(source)

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

test('refetchInterval of a page at rest is false only where the live stream tells of changes, or the read has ended', () => {
  for (const { path, source, interval } of found)
    assert.ok(
      ENDING.some((name) => path.endsWith(`/${name}`)) || !standsStill(interval, source),
      `${path}: ${interval}`,
    )
})

test('refetchInterval that rests for good is seen in a source without a live change', () => {
  const interval = '({ state }) => (state.data ? SHOWN_MS : false)'
  assert.equal(standsStill(interval, ''), true)
  assert.equal(standsStill(interval, 'useCharges(WORK, again)'), false)
  assert.equal(standsStill('({ state }) => (state.data ? SHOWN_MS : REST_MS)', ''), false)
})

test('refetchInterval of five seconds without a condition is seen', () => {
  const source = 'const SHOWN_MS = 5_000\nconst SLOW_MS = 60_000'
  assert.equal(atRestMs('SHOWN_MS', source), 5_000)
  assert.equal(atRestMs('({ state }) => (state.data ? SLOW_MS : SHOWN_MS)', source), 5_000)
  assert.equal(atRestMs('({ state }) => (state.data ? SHOWN_MS : false)', source), Infinity)
})
