// ergon registry list.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { print, printJson, table, tell } from '#cli/output.ts'
import { REGISTRIES_PATH } from '#cli/registries.ts'
import type { registryList } from '#contract/workloads/registries.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const registries = replyOf<typeof registryList>(await apiGet(options, REGISTRIES_PATH))
  if (options.json) return printJson(registries)
  if (registries.data.length === 0) return tell('No password of a registry is kept')
  const rows = registries.data.map((one) => [one.registry, one.username, one.updated_at])
  print(table(['REGISTRY', 'USER', 'PASSWORD SET'], rows))
}
