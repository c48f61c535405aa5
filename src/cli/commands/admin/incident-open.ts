// ergon admin incident open.
import type { CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { showIncident } from './incident-text.ts'

export async function run({
  options,
  words: [region = '', summary = ''],
}: CommandCall): Promise<void> {
  const since = options['since']
  const made = await control(options, 'incident.open', {
    region,
    summary,
    ...(typeof since === 'string' && { started_at: since }),
    preview: options['preview'] === true,
  })
  const count = made.accounts === 1 ? 'one account was' : `${made.accounts} accounts were`
  showIncident(made, { options, done: `${made.id}: ${count} told that ${region} is degraded` })
}
