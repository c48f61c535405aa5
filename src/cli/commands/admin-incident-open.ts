// ergon admin incident open.
import type { CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'

export async function run({
  options,
  words: [region = '', summary = ''],
}: CommandCall): Promise<void> {
  const since = options['since']
  const asked = {
    region,
    summary,
    ...(typeof since === 'string' && { started_at: since }),
  }
  const made = await control(options, 'incident.open', asked)
  if (options.json) return printJson(made)
  const count = made.accounts === 1 ? 'one account was' : `${made.accounts} accounts were`
  tell(`${made.id}: ${count} told that ${region} is degraded`)
}
