// Quantities with units: what each is in the unit of its type, and what is none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Numeric } from '#hcl/values/numeric.ts'
import {
  cpuField,
  durationField,
  energyBudgetField,
  sizeField,
  scheduleField,
} from './quantities.ts'

test('energy, memory and time have the units that messages list, and bounds', () => {
  const energies = [
    '10 J/day',
    '5kJ/day',
    '1 MJ/day',
    '1 Wh/day',
    '0.5 kWh/day',
    '9 J/day',
    '5 kJ',
    '5 kcal/day',
  ]
  assert.deepEqual(
    energies.map((text) => energyBudgetField.read(text)),
    [
      10n ** 10n,
      5n * 10n ** 12n,
      10n ** 15n,
      3600n * 10n ** 9n,
      1_800_000n * 10n ** 9n,
      undefined,
      undefined,
      undefined,
    ],
  )
  const memory = sizeField('', { least: '16MB', most: '1GB' })
  assert.deepEqual(
    ['16MB', '16 MiB', '1GB', '1GiB', '15MB', '1.5GB', 'x'].map((text) => memory.read(text)),
    [16e6, 16 * 2 ** 20, 1e9, undefined, undefined, undefined, undefined],
  )
  const duration = durationField('', { least: '1s', most: '1h' })
  assert.deepEqual(
    ['1s', '1500ms', '2 m', '1h', '2h', '999ms', '1d'].map((text) => duration.read(text)),
    [1000, 1500, 120_000, 3_600_000, undefined, undefined, undefined],
  )
})

test('processors are thousandths, without rounding', () => {
  const read = (text: string) => cpuField.read(Numeric.read(text) ?? null)
  assert.deepEqual(['0.05', '0.5', '1.001', '64', '0.049', '65', '0.0505'].map(read), [
    50,
    500,
    1001,
    64_000,
    undefined,
    undefined,
    undefined,
  ])
})

test('a schedule has five fields within their bounds', () => {
  const good = ['* * * * *', '*/5 * * * *', '0 3 * * 1-5', '0,30 8-18/2 1 1,7 0', '59 23 31 12 7']
  const bad = [
    '* * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '5-1 * * * *',
    '*/0 * * * *',
    'a * * * *',
    '*  * * * *',
    '@daily',
    '',
  ]
  for (const text of good) assert.equal(scheduleField.read(text), text)
  for (const text of bad) assert.equal(scheduleField.read(text), undefined, text)
})
