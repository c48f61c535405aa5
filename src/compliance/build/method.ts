// method.json: how the figures were made, from the charges themselves.
import { MEASURED_METHODS } from '#contract/ledger/known.ts'
import { isRequest, serviceOf } from '#contract/operations.ts'
import type { DuePack } from './pack-work.ts'
import type { Totals } from './totals.ts'

export const packMethod = (pack: DuePack, totals: Totals): object => ({
  v: '1',
  account: pack.account,
  from: pack.from.toISOString(),
  to: pack.to.toISOString(),
  rules: {
    time: 'A charge belongs to the time in which it ends: from <= to_of_charge < to',
    energy_nj: 'the sum of the parts of the charge; each part is of one meter',
    carbon_pg:
      'floor(energy_nj * mg_per_kwh / 3600000): of the parts without a factor of their own together by the factor of the charge, of each other part by its own',
    charge_pusd: 'floor(energy_nj * pusd_per_j / 1000000000), or 0 where free',
    band_pct: 'of a sum: the bands of its parts, weighted by their energy',
    pue: 'energy_nj has the overhead of the building in it; it is not of parts with a factor of their own',
    requests:
      'one a charge, or as many as the charge states; none of the operations in without_request, which are work by the minute or by what is stored',
    measured_nj: `of the energy, what a sensor read (${MEASURED_METHODS.join(', ')})`,
  },
  services: Object.fromEntries(
    [...totals.operations].toSorted().map((name) => [name, serviceOf(name)]),
  ),
  without_request: [...totals.operations].filter((name) => !isRequest(name)).toSorted(),
  meters: [...totals.meters.values()].map(({ energy, ...meter }) => ({
    ...meter,
    energy_nj: energy.toString(),
  })),
  factors: [...totals.factors.values()].map(({ factor, elsewhere, energy, carbon }) => ({
    ...factor,
    elsewhere,
    energy_nj: energy.toString(),
    carbon_pg: carbon.toString(),
  })),
  pue_milli: [...totals.pues].toSorted(),
  prices: [...totals.prices.values()].map(({ energy, money, ...price }) => ({
    ...price,
    energy_nj: energy.toString(),
    charge_pusd: money.toString(),
  })),
})
