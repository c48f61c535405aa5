// ergon db list.
import type { CommandCall } from '#cli/call.ts'
import { apiGet } from '#cli/client.ts'
import type { Database } from '#cli/databases.ts'
import { print, printJson, table, tell } from '#cli/output.ts'

const MB = 1_000_000

export async function run({ options }: CommandCall): Promise<void> {
  const list = JSON.parse((await apiGet(options, '/v1/databases')).text) as { data: Database[] }
  if (options.json) return printJson(list)
  if (list.data.length === 0) return tell('There are no databases yet: ergon db create <name>')
  const rows = list.data.map(({ name, status, region, size_bytes: bytes }) => [
    name,
    status,
    region,
    String(Math.round(bytes / MB)),
  ])
  print(table(['NAME', 'STATUS', 'REGION', 'SIZE MB'], rows))
}
