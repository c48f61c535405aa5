// ergon admin incident close.
import type { CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'

export async function run({ options, words: [incident = ''] }: CommandCall): Promise<void> {
  const closed = await control(options, 'incident.close', { incident })
  if (options.json) printJson(closed)
  else tell(`${closed.id} is closed: ${closed.region} works again`)
}
