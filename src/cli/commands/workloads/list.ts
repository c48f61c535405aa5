// ergon workloads list.
import type { CommandCall } from '#cli/call.ts'
import { print, printJson, table, tell } from '#cli/output.ts'
import { listWorkloads } from '#cli/workloads.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const list = await listWorkloads(options)
  if (options.json) return printJson(list)
  if (list.data.length === 0)
    return tell('There are no workloads yet: ergon deploy, in a folder with ergon.hcl')
  const rows = list.data.map((one) => [
    one.name,
    one.status,
    `${one.instances}/${one.scale.max}`,
    one.live_version === null ? '-' : String(one.live_version),
    one.image,
    one.energy_budget ?? '-',
    one.url,
  ])
  print(table(['NAME', 'STATUS', 'INSTANCES', 'VERSION', 'IMAGE', 'BUDGET', 'ADDRESS'], rows))
}
