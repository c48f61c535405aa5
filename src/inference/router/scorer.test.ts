import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Tier } from '#contract/charge.ts'
import { scoreText } from './scorer.ts'

// Plain cases of each tier: what anybody would say they are. No claim about texts unlike them.
const PLAIN: [Tier, string][] = [
  ['L0', 'What is the capital of France?'],
  ['L0', 'hi'],
  ['L0', 'When was Ada Lovelace born?'],
  ['L0', 'define entropy'],
  ['L1', 'Extract the invoice date and the supplier from this document'],
  ['L1', 'Translate the following paragraph'],
  ['L2', 'What is the total and the average of 12, 15, 18, 22 and 40?'],
  [
    'L2',
    '| month | sales |\n|---|---|\n| May | 7 |\n| June | 9 |\nWhich month had the highest sales?',
  ],
  ['L2', 'Summarize the overall trend of these quarterly results'],
  ['L3', 'Prove step by step that the square root of 2 is irrational'],
  [
    'L3',
    'Write a function that reverses a list:\ndef reverse(items):\n    return items[::-1]; print()',
  ],
  [
    'L3',
    'Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in ' +
      'May. How many clips did she sell altogether in April and May?',
  ],
]

for (const [tier, text] of PLAIN)
  test(`scoreText() puts "${text.slice(0, 40).replaceAll('\n', ' ')}" in ${tier}`, () => {
    assert.equal(scoreText(text).tier, tier)
  })

test('scoreText() names the features that decided', () => {
  assert.equal(
    scoreText('What is the capital of France?').because,
    'short, one question, lookup words',
  )
})

test('scoreText() looks at the head and the tail only', () => {
  const middle = 'prove the theorem step by step '.repeat(1_000)
  const ends = 'word '.repeat(100)
  assert.equal(
    scoreText(ends + middle + ends).tier,
    scoreText(ends + 'other words here '.repeat(1_000) + ends).tier,
  )
})

test('scoreText() goes up when two tiers are close', () => {
  // Three points each, for a short lookup and for a count: the harder wins.
  assert.deepEqual(scoreText('how many planets'), { tier: 'L2', because: 'how many' })
})

test('scoreText() gives some tier and printable words for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 3_000 }), (text) => {
      const { tier, because } = scoreText(text)
      assert.match(tier, /^L[0-3]$/)
      assert.match(because, /^[a-z ,]+$/)
    }),
    { numRuns: 200 },
  )
})
