// Energy on the command line: a row for each hour, and the sums.
import { nj, printJoules } from '#base/units.ts'
import type { HourlyEnergy, hourlyEnergyOf } from '#contract/resources/hourly-energy.ts'
import type { CommandCall } from './call.ts'
import { apiGet, replyOf } from './client.ts'
import { durationMs } from './duration.ts'
import { dollars } from './money.ts'
import { print, printJson, table } from './output.ts'

/** A time, `all` for the sum; joules and milligrams as text; whole pico-dollars. */
export type EnergyRow = {
  readonly from: string
  readonly joules: string
  readonly carbonMg: string
  readonly chargePusd: string
}

export function printEnergy(rows: readonly EnergyRow[]): void {
  const cells = rows.map(({ from, joules, carbonMg, chargePusd }) => [
    from,
    joules,
    carbonMg,
    dollars(chargePusd),
  ])
  print(table(['FROM', 'JOULES', 'CARBON mg', 'DOLLARS'], cells))
}

const S = 1000

/** Of a function or a workload, whose path is given. */
export async function printHourlyEnergy(
  options: CommandCall['options'],
  path: string,
): Promise<void> {
  const { since } = options
  const asked = durationMs(typeof since === 'string' ? since : '24h', '--since 24h')
  const answer = await apiGet(options, `${path}/energy?since=${asked / S}s`)
  const energy = replyOf<ReturnType<typeof hourlyEnergyOf>>(answer)
  if (options.json) return printJson(energy)
  const rowOf = (from: string, one: Figures): EnergyRow => ({
    from,
    joules: printJoules(nj(BigInt(one.energy_nj))),
    carbonMg: String(one.carbon_mg),
    chargePusd: one.charge_pusd,
  })
  printEnergy([...energy.data.map((hour) => rowOf(hour.at, hour)), rowOf('all', energy)])
}

type Figures = Pick<HourlyEnergy, 'energy_nj' | 'carbon_mg' | 'charge_pusd'>
