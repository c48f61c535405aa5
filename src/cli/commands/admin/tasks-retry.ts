// ergon admin tasks retry: a dead job runs again, with all its attempts.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [job = ''] }: CommandCall): Promise<void> {
  const result = await control(options, 'task.retry', { job })
  if (options.json) printJson(result)
  else tell(`${job} runs again`)
}
