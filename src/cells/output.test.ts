import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { test } from 'node:test'

import { sleep, systemClock } from '#base/clock.ts'

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

test('readLines() drops whole lines while there are too many, and goes on at the next one', async () => {
  const { stream, clock, texts, flushed } = reading()
  stream.write('x\n'.repeat(2000))
  stream.write('y\ny\nthe begin of a line')
  stream.write(' and its middle')
  await flushed()
  clock.nowMs = 1000
  stream.write(' and its end')
  stream.write(', at last\nnext\n')
  stream.end()
  await flushed()
  assert.equal(texts().length, 2002)
  assert.deepEqual(texts().slice(2000), ['3 lines were dropped: more than 2000 a second', 'next'])
})

test('readLines() lets a stream of an account rest once its bytes of a second are read', async () => {
  const pace = { burstBytes: 100_000, bytesPerS: 50_000 }
  const read = { bytes: 0, lines: 0 }
  const begunMs = performance.now()
  const stream = Readable.from(flood(read, 200_000))
  readLines({ name: 'stdout', stream, pace }, () => read.lines++, systemClock)
  await new Promise((resolve) => setImmediate(resolve))
  for (let ms = 0; ms < 1000; ms = performance.now() - begunMs) {
    // Two chunks may be on their way.
    const most = pace.burstBytes + (ms * pace.bytesPerS) / 1000 + 3 * CHUNK_BYTES
    assert.ok(read.bytes <= most, `${read.bytes} of ${most}`)
    await sleep(20)
  }
  assert.ok(read.bytes > 0)
  await finished(stream)
  assert.equal(read.lines, 200_000 / CHUNK_BYTES)
})

test('readLines() lets a stream of single bytes rest by its reads', async () => {
  const pace = { burstBytes: 40 * 1024, bytesPerS: 4096 }
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs }
  const stream = new PassThrough()
  let reads = 0
  stream.on('data', () => reads++)
  const ended = readLines({ name: 'stdout', stream, pace }, () => undefined, clock)
  for (let nth = 0; nth < 1000; nth++) stream.write('x')
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(reads, 11)
  stream.destroy()
  await ended
})

const CHUNK_BYTES = 5000
function* flood(read: { bytes: number }, bytes: number) {
  for (; read.bytes < bytes; read.bytes += CHUNK_BYTES)
    yield Buffer.from(`${'x'.repeat(CHUNK_BYTES - 1)}\n`)
}

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
