import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { createMarks } from '#metering/marks.ts'
import { createPipeMarks } from '#metering/pipe-marks.ts'
import { createCausedByCells } from './caused-by-cells.ts'

/** A process whose CPU the test sets. */
function processOf() {
  const clock = { cpuNs: 0 }
  return {
    clock,
    caused: createCausedByCells(createPipeMarks(createMarks({ cpuNs: () => clock.cpuNs }))),
  }
}

test('a cell has the CPU of its connections, and the operator what comes between', () => {
  const { clock, caused } = processOf()
  const [a, b] = [caused.begin('fn-a-1'), caused.begin('fn-b-1')]
  clock.cpuNs += 5000
  a.mark()
  clock.cpuNs += 7000
  b.mark()
  caused.totals()
  clock.cpuNs += 100_000
  assert.deepEqual(caused.totals(), { 'fn-a-1': 5000, 'fn-b-1': 7000 })
  clock.cpuNs += 3000
  a.end()
  assert.deepEqual(caused.totals(), { 'fn-a-1': 8000, 'fn-b-1': 7000 })
})

test('chunks of streams are their cell’s by pieces and bytes', () => {
  const { clock, caused } = processOf()
  const stream = new PassThrough()
  stream.resume()
  caused.begin('fn-a-1').count(stream)
  for (let nth = 0; nth < 16; nth++) {
    clock.cpuNs += 20_000
    stream.emit('data', Buffer.alloc(8000))
  }
  assert.deepEqual(caused.totals(), { 'fn-a-1': 320_000 })
})

test('a cell without connections is forgotten after a minute of looks, one with a connection never', () => {
  const { clock, caused } = processOf()
  const work = caused.begin('fn-a-1')
  clock.cpuNs += 1000
  work.mark()
  for (let look = 0; look < 100; look++) assert.deepEqual(caused.totals(), { 'fn-a-1': 1000 })
  work.end()
  for (let look = 0; look < 60; look++) assert.deepEqual(caused.totals(), { 'fn-a-1': 1000 })
  assert.deepEqual(caused.totals(), {})
})
