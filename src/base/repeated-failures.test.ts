import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from './log.ts'
import { repeatedFailuresOf } from './repeated-failures.ts'

const MINUTE_MS = 60_000

function failures() {
  const lines: { readonly unlogged?: number; readonly error: { readonly message: string } }[] = []
  const log = createLogger('test', { write: (line) => void lines.push(JSON.parse(line)) })
  const time = { ms: 0 }
  const tell = repeatedFailuresOf(log, () => time.ms)
  const fail = (subject: string, reason: string) =>
    tell({ level: 'error', message: 'It did not start', subject, error: new TypeError(reason) })
  return { lines, time, fail }
}

test('a repeated failure is logged once for each reason, and again after a minute with its count', () => {
  const { lines, time, fail } = failures()
  const long = 'x'.repeat(10_000)
  for (let times = 0; times < 1000; times++) fail('one', `the cell spare-${times} ended ${long}`)
  assert.equal(lines.length, 1)
  fail('one', 'the disk is full')
  fail('two', 'the disk is full')
  fail('one', 'the disk is full')
  assert.equal(lines.length, 3)
  time.ms = MINUTE_MS
  for (let times = 0; times < 2; times++) fail('one', `the cell spare-1 ended ${long}`)
  assert.equal(lines.length, 4)
  assert.deepEqual(
    lines.map(({ unlogged }) => unlogged),
    [undefined, undefined, undefined, 999],
  )
})

test('a repeated failure is forgotten behind a thousand others', () => {
  const { lines, fail } = failures()
  for (let nth = 0; nth <= 1000; nth++) fail(`resource-${nth}`, 'the disk is full')
  fail('resource-1', 'the disk is full')
  assert.equal(lines.length, 1001)
  fail('resource-0', 'the disk is full')
  assert.equal(lines.length, 1002)
})
