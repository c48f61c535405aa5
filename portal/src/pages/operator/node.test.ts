import assert from 'node:assert/strict'
import { test } from 'node:test'
import { njPerS, powerParts, windowsWords, type NodeFacts } from './node.ts'

test('watts are read to the nanojoule', () => {
  assert.deepEqual(['2.640', '0.000', '12', '-0.5', '0.0000000019'].map(njPerS), [
    2_640_000_000n,
    0n,
    12_000_000_000n,
    -500_000_000n,
    1n,
  ])
})

test('the parts are the watts of the meter, and no part exceeds them', () => {
  const cell = (payer: string, watts: string, idle_watts: string) => ({ payer, watts, idle_watts })
  const facts = {
    meter: { watts: '10.000', idle_watts: '4.000', billed_watts: '0.500' },
    cells: [cell('operator', '2.500', '0.500'), cell('acct_1', '1.000', '0.250')],
  } as unknown as NodeFacts
  const { billed, ours, others, idle } = powerParts(facts)
  assert.deepEqual(
    [billed, ours, others, idle],
    [1_250_000_000n, 1_500_000_000n, 3_250_000_000n, 4_000_000_000n],
  )
  assert.equal(billed + ours + others + idle, njPerS(facts.meter.watts))
  const over = powerParts({ ...facts, meter: { ...facts.meter, billed_watts: '9' } })
  assert.deepEqual([over.billed, over.ours, over.others], [6_000_000_000n, 0n, 0n])
})

test('windowsWords() names no better sensor where there is none', () => {
  const words = (windows_fallback: string) => windowsWords({ windows: '1653', windows_fallback })
  assert.equal(words('0'), '1653, all by the best method there is')
  assert.equal(words('3'), '1653, 3 of them by the model, as the sensor was passed over')
})
