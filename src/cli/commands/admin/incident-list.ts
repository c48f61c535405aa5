// ergon admin incident list.
import type { CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { print, printJson, table, tell } from '#cli/output.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const incidents = await control(options, 'incident.list', {})
  if (options.json) return printJson(incidents)
  if (incidents.length === 0) return tell('no incidents')
  print(
    table(
      ['INCIDENT', 'REGION', 'SINCE', 'UNTIL', 'ACCOUNTS', 'SUMMARY'],
      incidents.map((one) => [
        one.id,
        one.region,
        one.started_at,
        one.ended_at ?? 'open',
        String(one.accounts),
        one.summary,
      ]),
    ),
  )
}
