import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'

import type { OutputLine } from './cell.ts'
import { errorIn, isLogLine, readLines } from './output.ts'

function reading() {
  const stream = new PassThrough()
  const lines: OutputLine[] = []
  const clock = { nowMs: 0, wallMs: () => 0, monotonicMs: () => clock.nowMs }
  readLines({ name: 'stderr', stream }, (line) => lines.push(line), clock)
  const texts = () => lines.map((line) => line.text)
  const flushed = () => new Promise((resolve) => setImmediate(resolve))
  return { stream, clock, texts, flushed }
}

test('readLines() joins chunks, also inside a character, and keeps the last line', async () => {
  const { stream, texts, flushed } = reading()
  const bytes = Buffer.from('one\nzwö')
  stream.write(bytes.subarray(0, 7))
  stream.write(bytes.subarray(7))
  stream.end('lf')
  await flushed()
  assert.deepEqual(texts(), ['one', 'zwölf'])
})

test('readLines() cuts a line that does not end', async () => {
  const { stream, texts, flushed } = reading()
  for (let i = 0; i < 4; i++) stream.write('x'.repeat(5000))
  stream.end()
  await flushed()
  assert.deepEqual(
    texts().map((text) => text.length),
    [8192, 8192, 3616],
  )
})

test('readLines() drops what comes too fast, and says how much', async () => {
  const { stream, clock, texts, flushed } = reading()
  stream.write('x\n'.repeat(2500))
  await flushed()
  assert.equal(texts().length, 2000)
  clock.nowMs = 1000
  stream.write('next\n')
  await flushed()
  assert.deepEqual(texts().slice(2000), ['500 lines were dropped: more than 2000 a second', 'next'])
})

test('isLogLine() knows a line of our logger from others', () => {
  assert.ok(isLogLine('{"time":"","level":"info","subsystem":"x","message":"y"}'))
  for (const text of ['', 'x', '{', '{}', '[]', '{"level":"info"}'])
    assert.ok(!isLogLine(text), text)
})

test('errorIn() finds what a log line says of an error', () => {
  const line = (fields: object) => JSON.stringify({ level: 'error', message: 'It ends', ...fields })
  assert.equal(errorIn(line({ error: 'damaged' })), 'damaged')
  assert.equal(
    errorIn(line({ error: { name: 'Error', message: 'no room', stack: '…' } })),
    'no room',
  )
  assert.equal(errorIn(line({})), 'It ends')
  assert.equal(errorIn(line({ error: 'e'.repeat(1000) }))?.length, 300)
  for (const other of ['"level":"error"', '', line({}).replace('error', 'warn')])
    assert.equal(errorIn(other), undefined)
})
