// The energy of a workload on the command line.
import { nj, printJoules } from '#base/units.ts'
import type { CommandCall } from './call.ts'
import { apiGet, replyOf } from './client.ts'
import { durationMs } from './duration.ts'
import { print, printJson, table } from './output.ts'
import { workloadPath } from './workloads.ts'
import type { workloadEnergy } from '#contract/workloads/workload-replies.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

type Figures = Pick<ReplyOf<typeof workloadEnergy>, 'energy_nj'>

const S = 1000
const joules = ({ energy_nj: energy }: Figures) => printJoules(nj(BigInt(energy)))

/** Prints the sum, and each hour where there are several. */
export async function printWorkloadEnergy(
  options: CommandCall['options'],
  name: string,
): Promise<void> {
  const { since } = options
  const asked = durationMs(typeof since === 'string' ? since : '24h', '--since 24h')
  const answer = await apiGet(options, `${workloadPath(name)}/energy?since=${asked / S}s`)
  const energy = replyOf<typeof workloadEnergy>(answer)
  if (options.json) return printJson(energy)
  print(`${joules(energy)} J since ${energy.from} (${energy.carbon_mg} mg CO2e)`)
  if (energy.data.length < 2) return
  const rows = energy.data.map((hour) => [hour.at, joules(hour), String(hour.carbon_mg)])
  print(table(['HOUR', 'J', 'MG CO2E'], rows))
}
