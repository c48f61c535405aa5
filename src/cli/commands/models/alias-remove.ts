// ergon models alias remove: takes back a further name of a model.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const result = await control(options, 'alias.remove', { name })
  if (options.json) printJson(result)
  else tell(`${name} is no longer an alias`)
}
