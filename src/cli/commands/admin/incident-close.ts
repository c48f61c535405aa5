// ergon admin incident close.
import type { CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { showIncident, publicTextsOf } from './incident-text.ts'

export async function run({ options, words: [incident = '', words] }: CommandCall): Promise<void> {
  const closed = await control(options, 'incident.close', {
    incident,
    ...(words !== undefined && { words }),
    ...publicTextsOf(options),
  })
  showIncident(closed, { options, done: `${closed.id} is closed: ${closed.region} works again` })
}
