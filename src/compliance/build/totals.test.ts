// R of a pack: work without a request is no request, and the verifier of packs counts the same.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Charge } from '#contract/ledger/charge.ts'
import { packMethod } from './method.ts'
import { createTotals, totalsCsv } from './totals.ts'

const { createTotals: verifierTotals } = await import(
  import.meta.resolve('#tlog/evidence/verify/totals.mjs')
)

const factor = { zone: 'z', mg_per_kwh: '400000', source: 's', year: '2025', basis: 'table' }
const part = { meter: 'm', method: 'cpu-model', band_pct: '20', energy_nj: '5000000000' }
const chargeOf = (operation: string, more = {}) =>
  ({
    operation,
    to: '2026-11-01T00:00:00.000Z',
    routed_to: 'operator/region/silicon',
    energy_nj: '5000000000',
    carbon_pg: '555555',
    charge_pusd: '10',
    price_id: 'p',
    pusd_per_j: '2',
    unit: 'USD',
    free: false,
    pue_milli: '1000',
    factor,
    parts: [part],
    ...more,
  }) as unknown as Charge

const REQUESTS = ['chat.create', 'storage.put-object', 'database.query', 'an.operation-of-before']
const WORK = [
  'storage.standing',
  'storage.log-delivery',
  'database.standing',
  'database.session',
  'database.backup',
  'cell.standing',
  'function.standing',
  'workload.standing',
  'volume.standing',
  'image.standing',
  'webhook.delivery',
  'pack.build',
]
const PACK = { account: 'acct_1', from: new Date(0), to: new Date(1) }

test('createTotals() counts no request for work without one, as the verifier does', () => {
  const charges = [...REQUESTS, ...WORK].map((operation) => chargeOf(operation))
  charges.push(chargeOf('service.nobody', { requests: '7' }))
  const totals = createTotals()
  for (const charge of charges) totals.add(charge)
  assert.deepEqual([totals.all.charges, totals.all.requests], [17n, 11n])
  const method = JSON.parse(JSON.stringify(packMethod(PACK as never, totals)))
  assert.deepEqual(method.without_request, WORK.toSorted())
  const verified = verifierTotals(method)
  for (const charge of charges) verified.add(charge)
  assert.equal(verified.all.requests, 11n)
  const summary = {
    charges: '17',
    requests: '11',
    energy_nj: totals.all.energy.toString(),
    band_pct: '20',
    measured_nj: '0',
    carbon_pg: totals.all.carbon.toString(),
    charge_pusd: '170',
  }
  verified.check(totalsCsv(totals), method, summary)
  assert.throws(() => verified.check(totalsCsv(totals), method, { ...summary, requests: '17' }), {
    message: /its figures are 17,17/,
  })
})

test('a pack from before the list of work without a request counts each charge', () => {
  const verified = verifierTotals({ services: {} })
  for (const operation of ['chat.create', 'storage.standing']) verified.add(chargeOf(operation))
  assert.equal(verified.all.requests, 2n)
})
