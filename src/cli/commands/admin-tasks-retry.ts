// ergon admin tasks retry: a dead job runs again, with all its attempts.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const path = `/tasks/dead/${encodeURIComponent(id)}/retry`
  const result = await control(options, { method: 'POST', path })
  if (options.json) printJson(result)
  else tell(`${id} runs again`)
}
