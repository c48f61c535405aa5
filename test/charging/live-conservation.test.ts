// The bill equals the meter where the meter is the model of the processor, which is linear.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testConservation } from './conservation.ts'
import { product, sharedErgon } from '../product.ts'
import { CHAT, MODELS } from '../settings.ts'

product(MODELS)

// The more clients, the shorter their answers: the last answers end soon after the time is over. The bill of a linear
// meter does not settle over windows, so many clients need to ask only once or twice.
const LOADS = [
  { concurrent: 1, maxTokens: 24, forMs: 1500 },
  { concurrent: 16, maxTokens: 8, forMs: 300 },
  { concurrent: 64, maxTokens: 2, forMs: 300 },
]

testConservation(CHAT, LOADS, true)

test('a meter of a linear model has one tariff', async () => {
  const windows = await sharedErgon().sql<{ tariff: string }>(
    `select distinct convert_from(bytes, 'UTF8')::jsonb ->> 'tariff_nj_per_cpu_s' as tariff from windows`,
  )
  assert.equal(windows.length, 1)
})
