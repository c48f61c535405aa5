import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogTail, TAIL_LINES_MAX } from '#base/log-tail.ts'
import { logOfLines } from './log-lines.ts'

const line = (subsystem: string, level: string, message: string, more: object = {}) =>
  JSON.stringify({ time: '2026-01-01T00:00:00.000Z', level, subsystem, message, ...more })

test('logOfLines() filters by level and subsystem and gives the newest lines', () => {
  const kept = [
    line('agent', 'info', 'one'),
    line('gw-1', 'warn', 'two', { error: '<b>' }),
    'not JSON',
    line('gw-1', 'error', 'three'),
  ]
  const messages = (query: Parameters<typeof logOfLines>[1]) =>
    logOfLines(kept, query).lines?.map(({ message }) => message)
  assert.deepEqual(messages({}), ['one', 'two', 'three'])
  assert.deepEqual(messages({ level: 'warn' }), ['two', 'three'])
  assert.deepEqual(messages({ subsystem: 'gw-1', limit: 1 }), ['three'])
  assert.equal(logOfLines(kept, {}).lines?.[1]?.fields, '{"error":"<b>"}')
  assert.deepEqual(logOfLines(kept, {}).subsystems, ['agent', 'gw-1'])
  assert.equal(logOfLines(null, {}).lines, null)
})

test('createLogTail() keeps so many lines, and none that is too long', () => {
  const tail = createLogTail()
  for (let number = 0; number < 3 * TAIL_LINES_MAX; number++) tail.add(`${number}\n`)
  tail.add('x'.repeat(2000))
  assert.equal(tail.lines.length, TAIL_LINES_MAX - 1)
  assert.equal(tail.lines.at(-1), String(3 * TAIL_LINES_MAX - 1))
})
