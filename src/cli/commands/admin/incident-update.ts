// ergon admin incident update.
import type { CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { showIncident, publicTextsOf } from './incident-text.ts'

export async function run({ options, words: [incident = '', words] }: CommandCall): Promise<void> {
  const updated = await control(options, 'incident.update', {
    incident,
    ...(words !== undefined && { words }),
    ...publicTextsOf(options),
  })
  showIncident(updated, { options, done: `${updated.id} is updated` })
}
