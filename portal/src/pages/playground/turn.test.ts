// A streamed answer as the playground follows it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterEvent, asked, rateOf } from './turn.ts'

test('afterEvent() gathers text, joules and the ceiling, and ends with the figures of the end', () => {
  const begun = afterEvent(
    asked('Rivers?', 256, 0),
    { type: 'begun', receiptId: 'rcpt_1', ceilingNj: 8_910_000_000n, reason: 'L0' },
    10,
  )
  assert.equal(begun.status, 'answering')
  const texts = ['Rivers', ' carry'].reduce(
    (turn, text) => afterEvent(turn, { type: 'text', text, model: 'm' }, 20),
    begun,
  )
  const running = afterEvent(texts, { type: 'energy', nj: 500n, ceilingNj: 900n }, 1000)
  const later = afterEvent(running, { type: 'energy', nj: 1500n, ceilingNj: 900n }, 1500)
  assert.deepEqual([later.text, later.tokens, later.ceilingNj], ['Rivers carry', 2, 900n])
  assert.equal(rateOf(running), undefined)
  assert.equal(rateOf(later), 2000n)
  const ended = afterEvent(later, { type: 'ended', nj: 1600n, pg: 7n, tokens: 3 }, 2000)
  assert.deepEqual([ended.nj, ended.pg, ended.tokens], [1600n, 7n, 3])
})
