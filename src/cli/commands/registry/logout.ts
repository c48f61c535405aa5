// ergon registry logout.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import { registryPath } from '#cli/registries.ts'

export async function run({ options, words: [registry = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, registryPath(registry))
  if (options.json) printJson(JSON.parse(text))
  else tell(`The password of ${registry} is forgotten`)
}
