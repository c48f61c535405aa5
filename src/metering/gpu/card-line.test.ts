import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCardLine } from './card-line.ts'
import { cardLine, cardUuid, IDLE_LINE, IDLE_WITH_UNITS } from './gpu-record.fixture.ts'

const H200 = {
  uuid: cardUuid(),
  name: 'NVIDIA H200',
  driver: '580.159.04',
  limitMilliwatts: 700_000n,
  busyPercent: 0n,
}

test('readCardLine() reads a line of a real card, with and without units', () => {
  assert.deepEqual(readCardLine(IDLE_LINE), { ...H200, milliwatts: 78_200n })
  assert.deepEqual(readCardLine(IDLE_WITH_UNITS), { ...H200, milliwatts: 78_250n })
})

test('readCardLine() never takes a figure that is not there for 0', () => {
  for (const absent of ['[N/A]', 'N/A', '[Unknown Error]', '[GPU requires reset]', '-1.00']) {
    const reading = readCardLine(cardLine({ watts: absent, busy: absent }))
    assert.ok(reading !== undefined, absent)
    assert.ok(!('milliwatts' in reading) && !('busyPercent' in reading), absent)
  }
})

test('readCardLine() reads a name that has the separator in it', () => {
  const line = IDLE_LINE.replace('NVIDIA H200', 'NVIDIA A, B, C')
  assert.equal(readCardLine(line)?.name, 'NVIDIA A, B, C')
  assert.equal(readCardLine(line)?.milliwatts, 78_200n)
})

const NO_READINGS = [
  '',
  'Field "no.such.field" is not a valid field to query.',
  "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
  'Unable to determine the device handle for GPU0: 0000:00:06.0: Unknown Error',
  'No devices were found',
  'a, b, c, d, e, f, g',
  IDLE_LINE.slice(0, -12),
]
for (const line of NO_READINGS)
  test(`readCardLine() takes for no reading: ${line.slice(0, 30)}`, () => {
    assert.equal(readCardLine(line), undefined)
  })
