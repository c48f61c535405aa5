// ergon artifacts fetch: fetches one and checks its hashes.
import { control } from '#cli/client.ts'
import { printJson, tell, tellWork } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  tellWork(`fetching ${name}`)
  const result = await control(options, 'artifact.fetch', { name })
  if (options.json) return printJson(result)
  tell(`${name} is here and checked`)
}
