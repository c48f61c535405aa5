// ergon energy: joules, carbon and price of the account, or of a workload, over a period.
import { allUsage, type UsageList } from '#cli/all-usage.ts'
import { sinceOf } from '#cli/duration.ts'
import { printEnergy, printHourlyEnergy, type EnergyRow } from '#cli/hourly-energy.ts'
import { printJson } from '#cli/output.ts'
import { workloadPath } from '#cli/workloads.ts'
import { nj, pg, printJoules, printMilligrams } from '#base/units.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [workload] }: CommandCall): Promise<void> {
  if (workload !== undefined) return await printHourlyEnergy(options, workloadPath(workload))
  const from = sinceOf(options['since'])
  // Each row of people is an hour, as far back as the service sums hours.
  const isHourly = !options.json && Date.now() - from.getTime() <= HOURS_MS_MAX + MINUTE_MS
  const step = isHourly ? '&step=hour' : ''
  const { data } = await allUsage(options, `from=${from.toISOString()}${step}`)
  const all = sumOf(data)
  if (options.json)
    return printJson({
      since: from.toISOString(),
      requests: data.reduce((sum, row) => sum + row.requests, 0),
      energy_nj: all.energy.toString(),
      carbon_mg: Number(printMilligrams(all.carbon)),
    })
  const hours = isHourly ? Map.groupBy(data, ({ at = '' }) => at) : new Map<string, Rows>()
  printEnergy([...[...hours].map(([at, rows]) => rowOf(at, sumOf(rows))), rowOf('all', all)])
}

/** The time that passes in the command itself. */
const MINUTE_MS = 60_000
/** 31 days. */
const HOURS_MS_MAX = 31 * 86_400_000

type Rows = UsageList['data']
type HourSums = ReturnType<typeof sumOf>

const sumOf = (rows: Rows) => ({
  energy: nj(rows.reduce((sum, row) => sum + BigInt(row.energy_nj), 0n)),
  carbon: pg(rows.reduce((sum, row) => sum + BigInt(row.carbon_pg), 0n)),
  charge: rows.reduce((sum, row) => sum + BigInt(row.charge_pusd), 0n),
})

const rowOf = (from: string, { energy, carbon, charge }: HourSums): EnergyRow => ({
  from,
  joules: printJoules(energy),
  carbonMg: printMilligrams(carbon),
  chargePusd: charge.toString(),
})
