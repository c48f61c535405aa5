import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXIT } from './output.ts'
import { spanOf } from './span.ts'

test('a time without a zone is of UTC, as in the API', () => {
  const from = (text: string) => spanOf({ from: text }, '').from
  assert.equal(from('2026-11-26'), '2026-11-26T00:00:00.000Z')
  assert.equal(from('2026-11-26T13:00'), '2026-11-26T13:00:00.000Z')
  assert.equal(from('2026-11-26T13:00:05.5'), '2026-11-26T13:00:05.500Z')
  assert.equal(from('2026-11-26T13:00+02:00'), '2026-11-26T11:00:00.000Z')
  for (const wrong of ['2026-11-26T13', '2026-11-26T25:00', '2026-11-26Z', '13:00', 'yesterday'])
    assert.throws(() => from(wrong), /--from is no time/, wrong)
})

test('a time that ends before it begins is wrong usage', () => {
  const span = (from: string, to: string) => spanOf({ from, to }, 'as such')
  assert.throws(() => span('2026-12-01', '2026-11-01'), {
    message: '--to is before --from: 2026-11-01',
    exitCode: EXIT.usage,
  })
  assert.deepEqual(Object.keys(span('2026-11-01', '2026-11-01')), ['from', 'to'])
})
