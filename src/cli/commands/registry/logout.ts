// ergon registry logout.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, replyOf } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import { registryPath } from '#cli/registries.ts'
import type { registryDeleted } from '#contract/workloads/registries.ts'

export async function run({ options, words: [registry = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, registryPath(registry))
  if (options.json) printJson(replyOf<typeof registryDeleted>({ text }))
  else tell(`The password of ${registry} is forgotten`)
}
