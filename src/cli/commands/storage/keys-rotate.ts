// ergon storage keys rotate: new objects use the new version some seconds later, old ones are wrapped again
// in the background.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const result = await control(options, 'storage-key.rotate', { name })
  if (options.json) printJson(result)
  else tell(`${name} has version ${result.version}; objects follow in the background`)
}
