import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Tier } from '#contract/ledger/charge.ts'
import { scoreConversation, type ConversationMessage } from './conversation.ts'

/** `turns` are the user's and the assistant's in turn. */
type Labelled = { readonly tier: Tier; readonly system?: string; readonly turns: readonly string[] }

const said = ({ system, turns }: Omit<Labelled, 'tier'>): ConversationMessage[] => [
  ...(system === undefined ? [] : [{ role: 'system', content: system }]),
  ...turns.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
]
const tierOf = (one: Omit<Labelled, 'tier'>): Tier => scoreConversation(said(one)).tier

/** Shares of a labelled set, in percent: below the label, above it, right. */
function sharesOf(file: string, route: (one: Labelled) => Tier) {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8')
  const set = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Labelled)
  const percent = (holds: (one: Labelled) => boolean) =>
    (set.filter(holds).length / set.length) * 100
  return {
    size: set.length,
    under: percent((one) => route(one) < one.tier),
    over: percent((one) => route(one) > one.tier),
    right: percent((one) => route(one) === one.tier),
  }
}

// held-out.jsonl was written before the scorer and is not looked at one by one: a change that makes these
// figures worse is mended with examples in tuned-on.jsonl. Labels: L0 a known fact, a command, a greeting.
// L1 works on a text that is there: finds, labels, translates, corrects. L2 sums up, counts, compares what is
// there, describes, drafts. L3 reasons: mathematics, riddles, code, causes, decisions, designs.
for (const [file, size, most] of [
  ['./held-out.jsonl', 200, { under: 10, over: 20 }],
  ['./tuned-on.jsonl', 168, { under: 5, over: 12 }],
] as const)
  test(`scoreConversation() sends at most ${most.under} % of ${file} too low, ${most.over} % too high`, (t) => {
    const shares = sharesOf(file, tierOf)
    t.diagnostic(JSON.stringify(shares))
    assert.equal(shares.size, size)
    assert.ok(shares.under <= most.under, `${shares.under} % too low`)
    assert.ok(shares.over <= most.over, `${shares.over} % too high`)
  })

test('the bounds of the held-out set find a router that sends everything up, and one that guesses', () => {
  assert.equal(sharesOf('./held-out.jsonl', () => 'L3').over, 75)
  assert.equal(sharesOf('./held-out.jsonl', () => 'L1').under, 50)
})

const HARD: readonly string[] = [
  'A bat and a ball cost $1.10 in total. The bat costs $1.00 more than the ball. How much does the ball cost?',
  'Integrate x·e^x from 0 to 1',
  'If all bloops are razzies and all razzies are lazzies, are all bloops lazzies?',
  'What are the trade-offs between a monolith and microservices for a team of five?',
  'What are the architecture trade-offs of event sourcing?',
]
test('scoreConversation() takes riddles, mathematics and trade-offs for reasoning', () => {
  assert.deepEqual(
    HARD.map((text) => [tierOf({ turns: [text] }), text]),
    HARD.map((text) => ['L3', text]),
  )
})

test('scoreConversation() heeds what the system message asks of every answer', () => {
  const turns = ['The product of two odd numbers is odd']
  assert.equal(tierOf({ turns }), 'L0')
  assert.equal(tierOf({ system: 'You are a helpful assistant.', turns }), 'L0')
  assert.deepEqual(
    scoreConversation(said({ system: 'You are a mathematician. Prove every claim.', turns })),
    { tier: 'L3', because: 'the system message' },
  )
  assert.equal(tierOf({ system: 'Classify each message. Reply with the label only.', turns }), 'L1')
})

test('scoreConversation() takes a greeting for one, whatever the system message says', () => {
  const system = 'You are a mathematician. Prove every claim.'
  assert.equal(tierOf({ system, turns: ['Hello there!'] }), 'L0')
  assert.equal(tierOf({ turns: ['Prove that 0.999… is 1', 'Let x be …', 'ok, thank you!'] }), 'L0')
  // A reply to the assistant's own question is no courtesy.
  assert.equal(tierOf({ turns: ['Prove that 0.999… is 1', 'With series?', 'yes please'] }), 'L3')
})

test('scoreConversation() remembers what the user asked before', () => {
  const hard = 'Prove that there are infinitely many primes'
  assert.equal(tierOf({ turns: [hard, 'Suppose not …', 'and then?'] }), 'L3')
  assert.equal(scoreConversation([]).tier, 'L0')
  assert.equal(
    scoreConversation([{ role: 'user', content: [{ text: 'Prove it' }, { image_url: '' }] }]).tier,
    'L3',
  )
})
