// The summary of a pack for a report of emissions: the same figures as JSON and as text.
import { nj, pg, printDecimal, printJoules, printMilligrams, printUsd, pusd } from '#base/units.ts'
import type { ChargeRange } from '#ledger/account-charges.ts'
import type { LedgerFileSums } from './ledger-file.ts'
import type { DuePack } from './pack-work.ts'
import { bandPct, type Totals } from './totals.ts'

export type SummaryParts = {
  readonly pack: DuePack
  readonly env: 'live' | 'test'
  readonly totals: Totals
  readonly ledger: LedgerFileSums
  /** Undefined where the time has no charge. */
  readonly range: ChargeRange | undefined
}

const SOURCES = {
  scope2:
    'GHG Protocol Scope 2 Guidance (2015), location-based method: metered energy times the average factor of the grid',
  scope3:
    'GHG Protocol Corporate Value Chain (Scope 3) Standard (2011), category 1: purchased goods and services',
  sci: 'Software Carbon Intensity, ISO/IEC 21031:2024: SCI = (E * I + M) per R',
} as const

const NJ_PER_KWH_DIGITS = 9
const kwh = (energy: bigint): string => printDecimal(energy / 3_600_000n, NJ_PER_KWH_DIGITS)

export function summaryOf({ pack, env, totals, ledger, range }: SummaryParts) {
  const { all } = totals
  return {
    v: '1',
    pack: pack.id,
    account: pack.account,
    env,
    unit: env === 'test' ? 'tUSD' : 'USD',
    from: pack.from.toISOString(),
    to: pack.to.toISOString(),
    first_account_seq: range?.first.toString() ?? null,
    last_account_seq: range?.last.toString() ?? null,
    charges: all.charges.toString(),
    requests: all.requests.toString(),
    energy_j: printJoules(nj(all.energy)),
    energy_nj: all.energy.toString(),
    band_pct: bandPct(all),
    measured_nj: all.measured.toString(),
    carbon_mg: printMilligrams(pg(all.carbon)),
    carbon_pg: all.carbon.toString(),
    charge: printUsd(pusd(all.money)),
    charge_pusd: all.money.toString(),
    ledger,
    ghg: emissionsOf(totals),
    sci: carbonIntensityOf(all),
  }
}

/**
 * The GHG Protocol has this division: the operator's emissions, here and elsewhere, are the customer's purchased ones.
 */
const emissionsOf = (totals: Totals) => ({
  operator_scope_2_location_based: { source: SOURCES.scope2, ...sumOf(totals, false) },
  operator_scope_3_category_1: { source: SOURCES.scope3, ...sumOf(totals, true) },
  customer_scope_3_category_1: {
    source: SOURCES.scope3,
    carbon_mg: printMilligrams(pg(totals.all.carbon)),
    carbon_pg: totals.all.carbon.toString(),
  },
  market_based: null,
})

/** Energy and carbon of this machine, or of upstreams elsewhere. */
function sumOf(totals: Totals, elsewhere: boolean) {
  const sums = { energy: 0n, carbon: 0n }
  for (const one of totals.factors.values()) {
    if (one.elsewhere !== elsewhere) continue
    sums.energy += one.energy
    sums.carbon += one.carbon
  }
  return {
    energy_kwh: kwh(sums.energy),
    energy_nj: sums.energy.toString(),
    carbon_mg: printMilligrams(pg(sums.carbon)),
    carbon_pg: sums.carbon.toString(),
  }
}

/** The names of ISO/IEC 21031:2024; a null has no divisor or no measurement. */
const carbonIntensityOf = ({ energy, carbon, requests }: Totals['all']) => ({
  source: SOURCES.sci,
  E_kwh: kwh(energy),
  I_mg_per_kwh: energy === 0n ? null : ((carbon * 3_600_000n + energy / 2n) / energy).toString(),
  M: null,
  R: { unit: 'request', count: requests.toString() },
  operational_mg_per_R: requests === 0n ? null : printMilligrams(pg(carbon / requests)),
})

export type PackSummary = ReturnType<typeof summaryOf>

/** For people. */
export function summaryText(summary: PackSummary): string {
  const { ledger, ghg, sci, unit } = summary
  const money = (amount: string) => `${printUsd(pusd(BigInt(amount)))} ${unit}`
  const here = ghg.operator_scope_2_location_based
  const elsewhere = ghg.operator_scope_3_category_1
  return `Evidence pack ${summary.pack}
Account ${summary.account} (${summary.env}), charges that end from ${summary.from} to before ${summary.to}

Charges        ${summary.charges} of ${summary.requests} requests, numbers ${summary.first_account_seq ?? '-'} to ${summary.last_account_seq ?? '-'} with their neighbours
Energy         ${summary.energy_j} J, +-${summary.band_pct} %; read by a sensor: ${printJoules(nj(BigInt(summary.measured_nj)))} J
Carbon         ${summary.carbon_mg} mg CO2e
Price          ${summary.charge} ${unit}
Balance        ${money(ledger.opening_pusd)} at first; in ${money(ledger.in_pusd)}, out ${money(ledger.out_pusd)}; ${money(ledger.closing_pusd)} at the end

Whose emissions these are
  The customer reports them as Scope 3, category 1 (a service that was bought):
    ${ghg.customer_scope_3_category_1.carbon_mg} mg CO2e
  The operator reports the same emissions as its own. What ran on its meters is its Scope 2, location-based:
    ${here.energy_kwh} kWh, ${here.carbon_mg} mg CO2e
  What it bought from others, who declare it or have a factor of their own, is its Scope 3, category 1:
    ${elsewhere.energy_kwh} kWh, ${elsewhere.carbon_mg} mg CO2e
  A market-based figure is not stated: it needs contracts for energy, which no charge has.

Software carbon intensity
  E = ${sci.E_kwh} kWh, I = ${sci.I_mg_per_kwh ?? '-'} mg CO2e/kWh, R = ${sci.R.count} requests
  M (embodied emissions of the hardware) is not measured. So the figure is the operational part alone, and no
  complete SCI score: ${sci.operational_mg_per_R ?? '-'} mg CO2e a request.

Sources
  ${here.source}
  ${elsewhere.source}
  ${sci.source}
  Factors with source, year and basis are in method.json. A factor with basis "assumed" or "table" is an average of a
  year and a place, and not the mix of the hour.
`
}
