// ergon registry list.
import type { CommandCall } from '#cli/call.ts'
import { apiGet } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import { REGISTRIES_PATH, type Registry } from '#cli/registries.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const { text } = await apiGet(options, REGISTRIES_PATH)
  const registries = JSON.parse(text) as { readonly data: readonly Registry[] }
  if (options.json) return printJson(registries)
  const rows = registries.data.map((one) => [one.registry, one.username, one.updated_at])
  print(table(['REGISTRY', 'USER', 'PASSWORD SET'], rows))
}
