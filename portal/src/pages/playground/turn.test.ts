// A streamed answer as the playground follows it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterEvent, asked, billed, isAwaited, rateOf } from './turn.ts'

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

test('an answer that was cut off has the figure of its charge; until then it is awaited', () => {
  const begun = { type: 'begun', receiptId: 'rcpt_1', ceilingNj: 900n, reason: 'L0' } as const
  const running = [begun, { type: 'energy', nj: 500n, ceilingNj: 900n } as const].reduce(
    (turn, event) => afterEvent(turn, event, 10),
    asked('Rivers?', 256, 0),
  )
  const charge = { how: { known: 'modelled', bandPct: 40 }, nj: 700n, pusd: 3n } as const
  assert.equal(billed(running, charge).nj, 500n)
  const stopped = { ...running, status: 'stopped', endedMs: 20 } as const
  assert.deepEqual([isAwaited(running), isAwaited(stopped)], [false, true])
  const whole = billed(stopped, charge)
  assert.deepEqual([whole.nj, whole.points.at(-1)?.nj, isAwaited(whole)], [700n, 700n, false])
  const ended = afterEvent(running, { type: 'ended', nj: 600n, pg: 7n, tokens: 3 }, 20)
  assert.equal(isAwaited({ ...ended, endedMs: 20 }), false)
})

test('the time in which a model loads is none of its answer', () => {
  const begun = { type: 'begun', receiptId: 'rcpt_1', ceilingNj: 900n, reason: 'L0' } as const
  const turn = asked('Rivers?', 256, 0)
  assert.equal(afterEvent(turn, begun, 10).startedMs, 0)
  const loaded = afterEvent({ ...turn, status: 'loading' }, begun, 60_000)
  assert.deepEqual([loaded.status, loaded.startedMs], ['answering', 60_000])
})
