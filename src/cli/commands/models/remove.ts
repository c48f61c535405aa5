// ergon models remove: stops serving a model; its files stay.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [model = ''] }: CommandCall): Promise<void> {
  const result = await control(options, 'model.remove', { model })
  if (options.json) printJson(result)
  else tell(`${model} is no longer served`)
}
