// A pack is offered for a time in which there was an account.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { offeredDays, packCommand, spanOf } from './pack-days.ts'

const NOW = new Date('2026-11-27T15:42:30Z')

test('offeredDays() is the month before, and begins no sooner than the account', () => {
  for (const [made, from, to] of [
    ['2026-01-05T10:00:00Z', '2026-10-01', '2026-10-31'],
    ['2026-10-12T10:00:00Z', '2026-10-12', '2026-10-31'],
    ['2026-11-03T10:00:00Z', '2026-11-03', '2026-11-27'],
    ['2026-11-27T10:00:00Z', '2026-11-27', '2026-11-27'],
  ] as const)
    assert.deepEqual(offeredDays(NOW, new Date(made)), { from, to }, made)
})

test('spanOf() ends with the last day, or now', () => {
  assert.deepEqual(spanOf({ from: '2026-10-12', to: '2026-10-31' }, NOW), {
    from: '2026-10-12T00:00:00Z',
    to: '2026-11-01T00:00:00.000Z',
  })
  assert.equal(spanOf({ from: '2026-11-27', to: '2026-11-27' }, NOW).to, NOW.toISOString())
})

test('packCommand() asks for no time to come', () => {
  assert.equal(
    packCommand({ from: '2026-10-12', to: '2026-10-31' }, NOW),
    'ergon evidence create --from 2026-10-12 --to 2026-11-01 -o evidence.zip',
  )
  assert.equal(
    packCommand({ from: '2026-11-27', to: '2026-11-27' }, NOW),
    'ergon evidence create --from 2026-11-27 --to 2026-11-27T15:42Z -o evidence.zip',
  )
})
