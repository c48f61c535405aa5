// ergon db list.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { print, printJson, table, tell } from '#cli/output.ts'
import type { databaseList } from '#contract/databases/databases.ts'

const MB = 1_000_000

export async function run({ options }: CommandCall): Promise<void> {
  const list = replyOf<typeof databaseList>(await apiGet(options, '/v1/databases'))
  if (options.json) return printJson(list)
  if (list.data.length === 0) return tell('There are no databases yet: ergon db create <name>')
  const rows = list.data.map((one) => [
    one.name,
    one.status,
    one.region,
    String(Math.round(one.size_bytes / MB)),
    one.energy_budget ?? '-',
    one.energy_budget_used_j === null ? '-' : one.energy_budget_used_j.toFixed(1),
  ])
  print(table(['NAME', 'STATUS', 'REGION', 'SIZE MB', 'BUDGET', 'USED J'], rows))
}
