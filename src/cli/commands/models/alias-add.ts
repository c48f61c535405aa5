// ergon models alias add: serves a further name with a model, or leads a name to another model.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [name = '', model = ''] }: CommandCall): Promise<void> {
  const result = await control(options, 'alias.add', { name, model })
  if (options.json) printJson(result)
  else tell(`${name} is served by ${model}`)
}
