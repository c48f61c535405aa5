import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { chargeBytes, parseCharge, type Charge } from '#contract/ledger/charge.ts'
import { nj, priceOf, pusd } from '#base/units.ts'
import { chargeText } from './charge-text.ts'
import { composeCharge } from './compose-charge.ts'
import { readTariff } from './tariff.ts'

const text = fc.string({ unit: 'grapheme', minLength: 1 })
const amount = fc.bigInt(0n, 1n << 90n).map(String)
const factor = fc.record({
  zone: text,
  mg_per_kwh: amount,
  source: text,
  year: text,
  basis: text,
})
const part = fc.record(
  {
    meter: text,
    method: fc.constantFrom('model' as const, 'rapl' as const),
    band_pct: amount,
    energy_nj: amount,
    factor,
    idle: fc.constant(true as const),
  },
  { requiredKeys: ['meter', 'method', 'band_pct', 'energy_nj'] },
)
const charge = fc.record(
  {
    v: fc.constant('1' as const),
    id: text,
    request: text,
    session: text,
    seq: amount,
    account: text,
    token: text,
    operation: text,
    resource: text,
    cell: text,
    model: text,
    tier: fc.constantFrom('L0' as const, 'L3' as const),
    routed_to: text,
    status: fc.integer({ min: 100, max: 599 }),
    from: text,
    to: text,
    parts: fc.array(part),
    energy_nj: amount,
    carbon_pg: amount,
    factor,
    pue_milli: amount,
    price_id: text,
    pusd_per_j: amount,
    free: fc.boolean(),
    charge_pusd: amount,
    unit: fc.constantFrom('USD' as const, 'tUSD' as const),
    env: fc.constantFrom('live' as const, 'test' as const),
    prompt_tokens: amount,
    completion_tokens: amount,
    subject_sha256: text,
    salt: text,
  },
  {
    requiredKeys:
      'v id request session seq account operation tier routed_to status from to parts energy_nj carbon_pg factor pue_milli price_id pusd_per_j free charge_pusd unit env salt'.split(
        ' ',
      ) as 'v'[],
  },
) as fc.Arbitrary<Charge>

test('the fast text of a charge is its canonical JSON', () => {
  fc.assert(
    fc.property(charge, (one) => {
      assert.equal(chargeText(one).toString(), chargeBytes(one).toString())
    }),
  )
})

const TARIFF = readTariff({
  meter: 'm1',
  method: 'model',
  band_pct: '30',
  nj_per_cpu_s: '3500000000',
  pue_milli: '1000',
  routed_to: 'ergon/local/cpu-x64',
  factor: { zone: 'WORLD', mg_per_kwh: '473000', source: 's', year: '2025', basis: 'assumed' },
})

test('a composed charge checks out, and no fact can hold what PostgreSQL refuses', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.boolean(), (name, funded) => {
      const hostile = `${name}\0\ud800`
      const parts = [{ meter: 'm1', method: 'model' as const, band_pct: '30', energy_nj: '14400' }]
      const made = composeCharge({
        ids: { receipt: 'rcpt_1', request: 'req_1' },
        record: { session: 'gw-1.1', seq: 1n },
        payer: { account: 'acct_1', token: 'tok_1', env: 'live', funded },
        operation: 'chat.create',
        served: { model: hostile, resource: hostile, cell: hostile, routedTo: `x/${hostile}` },
        status: 200,
        fromMs: 0,
        toMs: 1,
        terms: { tariff: TARIFF, priceId: 'price_1', pusdPerJ: 69_444n },
        parts,
        cost: funded ? priceOf(nj(14_400n), 69_444n) : pusd(0n),
      })
      const text = chargeText(made)
      assert.deepEqual(parseCharge(Buffer.from(text)), JSON.parse(text))
      assert.doesNotMatch(text, /\\u0000|\\ud800/)
    }),
  )
})
