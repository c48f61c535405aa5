// The energy headers of every response, printed from the settled charge, or, while a stream runs, from its admitted
// ceiling. An Estimate is a type of its own: it can never be stored as a charge.
import { carbonOf, printJoules, printMilligrams } from '#base/units.ts'
import type { Estimate } from '#charging/spend.ts'
import { chargeCarbon, chargeEnergy, type Charge } from '#contract/ledger/charge.ts'
import { bandOfParts } from '#contract/ledger/known.ts'

/** Names and values in turn, as node:http writes them without looking anything up. */
export type HeaderList = readonly string[]

export const finalHeaders = (charge: Charge, requestId: string): HeaderList => [
  ...trailers(charge),
  'X-Routed-To',
  charge.routed_to,
  'X-Tier',
  charge.tier,
  'X-Receipt-Id',
  charge.id,
  'x-request-id',
  requestId,
]

export function ceilingHeaders(
  estimate: Estimate,
  ids: { receiptId: string; requestId: string },
): HeaderList {
  const carbon = carbonOf(estimate.ceilingNj, BigInt(estimate.factor.mg_per_kwh))
  return [
    'X-Energy-Joules',
    printJoules(estimate.ceilingNj),
    'X-Carbon-mg',
    printMilligrams(carbon),
    'X-Energy-Estimate',
    'ceiling',
    'X-Routed-To',
    estimate.routedTo,
    'X-Tier',
    estimate.tier,
    'X-Energy-Method',
    estimate.energyMethod,
    'X-Receipt-Id',
    ids.receiptId,
    'x-request-id',
    ids.requestId,
  ]
}

/** The names that a chunked stream announces. */
export const TRAILERS = 'X-Energy-Joules, X-Carbon-mg, X-Energy-Method'

export const trailers = (charge: Charge): HeaderList => [
  'X-Energy-Joules',
  printJoules(chargeEnergy(charge)),
  'X-Carbon-mg',
  printMilligrams(chargeCarbon(charge)),
  'X-Energy-Method',
  methodOf(charge),
]

/** As pairs, for callers that take no list. */
export const pairsOf = (list: HeaderList): [string, string][] =>
  list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1] ?? '']] : []))

/** The method of the receipt: one charge has one band. */
function methodOf({ parts }: Charge): string {
  const { method, bandPct } = bandOfParts(parts)
  return `${method}; band=${bandPct}%`
}
