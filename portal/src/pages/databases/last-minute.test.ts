import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from './database.ts'
import { lastMinute } from './last-minute.ts'

const NOW = new Date('2026-11-25T14:30:00Z')
const AWAKE: Pick<Database, 'last_awake'> = {
  last_awake: {
    from: '2026-11-25T14:29:55.000Z',
    to: null,
    woken_by: 'change',
    role: null,
    slept_by: null,
  },
}
const ASLEEP: Pick<Database, 'last_awake'> = {
  last_awake: {
    from: '2026-11-25T14:00:00.000Z',
    to: '2026-11-25T14:05:00.000Z',
    woken_by: 'change',
    role: null,
    slept_by: 'idle',
  },
}
const energyAt = (at: string) => ({
  data: [
    {
      at,
      energy_j: 6,
      server_j: 6,
      carbon_mg: 0,
      energy_nj: '6000000000',
      charge_pusd: '416664',
    },
  ],
})

test('a server that runs is not called asleep before its first minute is charged', () => {
  const [figure, words] = lastMinute(AWAKE, { data: [] }, NOW)
  assert.equal(figure, 'awake')
  assert.doesNotMatch(words, /asleep/)
})

test('a server that runs for long without a charge is not in its first minute', () => {
  const [figure, words] = lastMinute(AWAKE, { data: [] }, new Date('2026-11-25T15:30:00Z'))
  assert.equal(figure, 'awake')
  assert.equal(words, 'its last minutes are not charged yet')
})

test('a server that sleeps without a new charge is asleep, at no power', () => {
  const [figure, words] = lastMinute(ASLEEP, energyAt('2026-11-25T14:05:00Z'), NOW)
  assert.match(figure, /^0\s/)
  assert.match(words, /^asleep/)
})

test('a minute that was charged has its mean power', () => {
  const [figure, words] = lastMinute(AWAKE, energyAt('2026-11-25T14:29:00Z'), NOW)
  assert.match(figure, /^100\smW|^0\.1/)
  assert.match(words, /its server/)
})

test('nothing is said of the power before the energy is read', () => {
  assert.equal(lastMinute(AWAKE, undefined, NOW)[0], '')
})
