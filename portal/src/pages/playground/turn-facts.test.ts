import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asked } from './turn.ts'
import { turnFacts } from './turn-facts.ts'

test('turnFacts() an answer names its joules by token as those of the answer alone', () => {
  const turn = { ...asked('Rivers?', 256, 0), nj: 900_000_000n, tokens: 9, endedMs: 1000 }
  const facts = new Map(turnFacts(turn))
  assert.equal(facts.get('Each token written'), '100\u00a0mJ')
  assert.equal(facts.get('Tokens written'), '9 of at most 256, 9 a second')
  assert.equal(facts.get('Now'), undefined)
})
