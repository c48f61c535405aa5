import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { matchesWildcards } from './wildcards.ts'

const UNCOUNTED = { spend: () => undefined }

/** The meaning of a pattern, spelled out: no cleverness, and no limit of steps. */
function matchesSlowly(pattern: string, text: string): boolean {
  if (pattern === '') return text === ''
  const rest = pattern.slice(1)
  if (pattern.startsWith('*'))
    return matchesSlowly(rest, text) || (text !== '' && matchesSlowly(pattern, text.slice(1)))
  const fits = text !== '' && (pattern.startsWith('?') || pattern[0] === text[0])
  return fits && matchesSlowly(rest, text.slice(1))
}

/** Two letters: runs that nearly fit, and begin as they end, are what a search gets wrong. */
const letters = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'a', 'b'), maxLength })

test('matchesWildcards() agrees with what a pattern means', () => {
  const symbols = fc.array(fc.constantFrom('a', 'a', 'a', 'b', 'b', '*', '*', '?'), {
    maxLength: 12,
  })
  fc.assert(
    // Half of the texts are made of their pattern: others rarely fit.
    fc.property(
      symbols,
      fc.array(letters(4), { minLength: 12, maxLength: 12 }),
      (pattern, fill) => {
        const made = pattern.map((symbol, at) =>
          symbol === '*' ? fill[at] : symbol === '?' ? 'b' : symbol,
        )
        for (const text of [made.join(''), fill.join('').slice(0, 16)])
          assert.equal(
            matchesWildcards(pattern.join(''), text, UNCOUNTED),
            matchesSlowly(pattern.join(''), text),
            JSON.stringify([pattern.join(''), text]),
          )
      },
    ),
    { numRuns: 3000 },
  )
})

test('matchesWildcards() finds runs that nearly fit', () => {
  fc.assert(
    fc.property(letters(12), letters(24), (run, text) => {
      assert.equal(matchesWildcards(`*${run}*`, text, UNCOUNTED), text.includes(run))
    }),
    { numRuns: 3000 },
  )
})

/** Steps of a pattern whose runs nearly fit everywhere. */
function stepsOf(pattern: (run: string) => string, length: number): number {
  let steps = 0
  const effort = { spend: (more: number) => (steps += more) }
  assert.ok(!matchesWildcards(pattern('a'.repeat(length)), 'a'.repeat(4 * length), effort))
  return steps
}

test('matchesWildcards() takes steps in proportion to pattern and text, and counts each with ?', () => {
  for (const pattern of [
    (run: string) => `*${run}b*`,
    (run: string) => `${run}*${run}b*`,
    (run: string) => `*a*${run}b*${run}`,
    (run: string) => `${'*a'.repeat(run.length)}b`,
    (run: string) => `${'*'.repeat(run.length)}b`,
  ])
    for (const length of [100, 1000, 10_000])
      assert.ok(stepsOf(pattern, length) <= 16 + 12 * length, `${pattern('a')} of ${length}`)
  const steps = stepsOf((run) => `*?${run}b*`, 1000)
  assert.ok(steps > 2_900_000 && steps < 3_100_000, String(steps))
})
