// ergon fn list.
import type { CommandCall } from '#cli/call.ts'
import { listFunctions } from '#cli/functions.ts'
import { mbText, print, printJson, table, tell } from '#cli/output.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const list = await listFunctions(options)
  if (options.json) return printJson(list)
  if (list.data.length === 0) return tell('There are no functions yet: ergon fn deploy <file>')
  const rows = list.data.map((one) => [
    one.name,
    one.status,
    one.runtime,
    mbText(one.memory_bytes),
    one.live_version === null ? '-' : String(one.live_version),
    one.energy_budget ?? '-',
    one.url,
  ])
  print(table(['NAME', 'STATUS', 'RUNTIME', 'MEMORY', 'VERSION', 'BUDGET', 'ADDRESS'], rows))
}
