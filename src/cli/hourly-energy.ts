// The energy of a function or a workload on the command line.
import { nj, printJoules } from '#base/units.ts'
import type { HourlyEnergy, hourlyEnergyOf } from '#contract/resources/hourly-energy.ts'
import type { CommandCall } from './call.ts'
import { apiGet, replyOf } from './client.ts'
import { durationMs } from './duration.ts'
import { dollars } from './money.ts'
import { print, printJson, table } from './output.ts'

type Figures = Pick<HourlyEnergy, 'energy_nj'>

const S = 1000
const joules = ({ energy_nj: energy }: Figures) => printJoules(nj(BigInt(energy)))

/** Prints the sum, and each hour where there are several. `path` is that of the resource. */
export async function printHourlyEnergy(
  options: CommandCall['options'],
  path: string,
): Promise<void> {
  const { since } = options
  const asked = durationMs(typeof since === 'string' ? since : '24h', '--since 24h')
  const answer = await apiGet(options, `${path}/energy?since=${asked / S}s`)
  const energy = replyOf<ReturnType<typeof hourlyEnergyOf>>(answer)
  if (options.json) return printJson(energy)
  print(
    `${joules(energy)} J since ${energy.from} (${energy.carbon_mg} mg CO2e, ${dollars(energy.charge_pusd)} dollars)`,
  )
  if (energy.data.length < 2) return
  const rows = energy.data.map((hour) => [
    hour.at,
    joules(hour),
    String(hour.carbon_mg),
    dollars(hour.charge_pusd),
  ])
  print(table(['HOUR', 'J', 'MG CO2E', 'DOLLARS'], rows))
}
