// ergon energy: joules and carbon of the account, or of a workload, over a period.
import { apiGet, replyOf } from '#cli/client.ts'
import { sinceOf } from '#cli/duration.ts'
import { printHourlyEnergy } from '#cli/hourly-energy.ts'
import { print, printJson } from '#cli/output.ts'
import { workloadPath } from '#cli/workloads.ts'
import { nj, pg, printJoules, printMilligrams } from '#base/units.ts'
import type { CommandCall } from '#cli/call.ts'
import type { usageList } from '#contract/service-replies.ts'

export async function run({ options, words: [workload] }: CommandCall): Promise<void> {
  if (workload !== undefined) return await printHourlyEnergy(options, workloadPath(workload))
  const from = sinceOf(options['since'])
  const { data } = replyOf<typeof usageList>(
    await apiGet(options, `/v1/usage?from=${from.toISOString()}`),
  )
  const energy = nj(data.reduce((sum, row) => sum + BigInt(row.energy_nj), 0n))
  const requests = data.reduce((sum, row) => sum + row.requests, 0)
  const carbon = pg(data.reduce((sum, row) => sum + BigInt(row.carbon_pg), 0n))
  if (options.json)
    return printJson({
      since: from.toISOString(),
      requests,
      energy_nj: energy.toString(),
      carbon_mg: Number(printMilligrams(carbon)),
    })
  print(
    `${printJoules(energy)} J in ${requests} requests since ${from.toISOString()} (${printMilligrams(carbon)} mg CO2e)`,
  )
}
