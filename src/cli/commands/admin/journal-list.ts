// ergon admin journal list: what the last start could not post, and kept.
import { control } from '#cli/client.ts'
import { print, printJson, table, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const kept = await control(options, 'journal.list', {})
  if (options.json) return printJson(kept)
  if (kept.length === 0) return tell('no journal is kept')
  print(
    table(
      ['PROCESS', 'SESSIONS', 'RECORDS', 'FILES', 'WHY'],
      kept.map((one) => [
        one.process,
        one.sessions.join(' '),
        String(one.records ?? 'unknown'),
        String(one.files.length),
        one.reason,
      ]),
    ),
  )
}
