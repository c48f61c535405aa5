import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChargePart } from '#contract/ledger/charge.ts'
import { partWords } from './part-words.ts'

const part = (more: Partial<ChargePart>): ChargePart => ({
  meter: 'node',
  method: 'plug',
  band_pct: '5',
  energy_nj: '7',
  ...more,
})

test('each part of a receipt says what used the energy, by which meter, and how it is known', () => {
  const parts = [
    part({}),
    part({ meter: 'node:gpu', method: 'nvml', band_pct: '97' }),
    part({ method: 'learned', band_pct: '42' }),
    part({ idle: true }),
    part({ meter: 'storage', method: 'model', band_pct: '100' }),
    part({ meter: 'upstream:far', method: 'model', band_pct: '100' }),
  ].map((one) => partWords(one, {}))
  assert.equal(new Set(parts.map(({ what }) => what)).size, 6)
  assert.deepEqual(parts.slice(0, 3), [
    { what: 'Processor time on this node', how: 'meter node, plug: measured, ±5\u00a0%' },
    { what: 'Steps on the GPU', how: 'meter node:gpu, nvml: measured, ±97\u00a0%' },
    {
      what: 'Work that it caused in shared processes',
      how: 'meter node, learned: modelled, ±42\u00a0%',
    },
  ])
  assert.equal(partWords(part({}), { cell: 'fn-x-1' }).what, 'Processor time of its process')
})
