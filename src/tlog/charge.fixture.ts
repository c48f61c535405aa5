// Charges for tests: valid, each different, and one that was overcharged.
import { carbonOf, nj, priceOf } from '#base/units.ts'
import { chargeBytes, type Charge } from '#contract/ledger/charge.ts'
import { leafOf, type LeafContent } from './leaf.ts'
import type { RowFigures } from './ledger-row.ts'

const ENERGY = nj(1_500_000_000n)

export const chargeOf = (nth: number): Charge => ({
  v: '1',
  id: `rcpt_${nth}`,
  request: `req_${nth}`,
  session: 'gw-1.1',
  seq: String(nth),
  account: 'acct_1',
  operation: 'chat.create',
  tier: 'L0',
  routed_to: 'ergon/local/cpu-x64',
  status: 200,
  from: '2026-11-21T10:00:00.000Z',
  to: '2026-11-21T10:00:01.000Z',
  parts: [{ meter: 'cpu', method: 'model', band_pct: '30', energy_nj: ENERGY.toString() }],
  energy_nj: ENERGY.toString(),
  carbon_pg: carbonOf(ENERGY, 473_000n).toString(),
  factor: { zone: 'WORLD', mg_per_kwh: '473000', source: 'table', year: '2025', basis: 'assumed' },
  pue_milli: '1000',
  price_id: 'default',
  pusd_per_j: '69444',
  free: false,
  charge_pusd: priceOf(ENERGY, 69_444n).toString(),
  unit: 'USD',
  env: 'live',
  salt: 'AAAAAAAAAAAAAAAAAAAAAA',
})

/** The leaves `begin` up to `end` of a log of one account. */
export const leavesOf = (begin: number, end: number): LeafContent[] =>
  Array.from({ length: end - begin }, (_, nth) => ({
    accountSeq: BigInt(begin + nth + 1),
    bytes: chargeBytes(chargeOf(begin + nth)),
  }))

/** The row of the ledger of a charge. */
export function rowOf(nth: number): RowFigures & { readonly kind: 'charge' } {
  const { id, energy_nj, charge_pusd } = chargeOf(nth)
  const [leaf] = leavesOf(nth, nth + 1)
  const leafHash = leaf === undefined ? null : leafOf(leaf).toString('hex')
  return { id, kind: 'charge', leaf_hash: leafHash, energy_nj, amount_pusd: `-${charge_pusd}` }
}

/** A charge of one pico-dollar more than its energy and price make. */
export const overcharged = (nth: number): LeafContent => {
  const charge = chargeOf(nth)
  const bytes = chargeBytes({ ...charge, charge_pusd: String(BigInt(charge.charge_pusd) + 1n) })
  return { accountSeq: BigInt(nth + 1), bytes }
}
