import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Tier } from '#contract/ledger/charge.ts'
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

// "return", "class" and "def" as English has them: what extraction is asked for with.
const ORDINARY: [Tier, string][] = [
  ['L1', 'Return only the JSON.'],
  ['L0', 'Return the capital of Japan in one word.'],
  ['L0', 'What class of drug is ibuprofen?'],
  ['L0', 'Who teaches the class on Monday?'],
  ['L0', 'Which yoga class is on Friday?'],
  ['L0', 'When does the return flight to Lisbon leave?'],
  ['L0', 'What is the return policy?'],
  ['L0', 'What time is the first class train to Bern?'],
  ['L1', 'Translate to French and return only the translation: The train leaves at nine.'],
  ['L1', 'Translate this paragraph to German and return nothing else'],
  ['L1', 'Extract the names and ages. Return JSON with the keys name and age: Anna is 31.'],
  ['L1', 'Extract the invoice date. Return it as YYYY-MM-DD and nothing else.'],
  ['L1', 'Extract the return address from this letter'],
  ['L1', 'Return JSON; nothing else. Extract the order number: order 4411 was sent.'],
  ['L1', 'Classify this review and return its class, positive or negative: The soup was cold.'],
  ['L1', 'Label the class of each sentence in the passage below'],
  ['L1', 'Label each sentence and return the class label: Positive or Negative'],
  ['L1', 'List the fields in this document and return them as a list'],
  ['L1', 'Find the def of entropy in this text and quote it'],
  ['L1', 'Identify the language of this text and return its name'],
]

test('scoreText() takes 20 ordinary requests for no reasoning', () => {
  assert.deepEqual(
    ORDINARY.map(([, text]) => [scoreText(text).tier, text]),
    ORDINARY,
  )
})

test('scoreText() knows code by its form', () => {
  for (const text of [
    'Is this right? return total;',
    'Look: def area(r): ...',
    'Look: def area_of(r): ...',
    'Look: class Invoice: ...',
    'Look: class Invoice(Base): ...',
    'Look: class Invoice { }',
    'Look:\n```\nx\n```',
  ])
    assert.deepEqual(scoreText(text), { tier: 'L3', because: 'code' }, text)
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
