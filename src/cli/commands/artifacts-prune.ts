// ergon artifacts prune: removes other versions and what interrupted fetches left.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const call = { method: 'POST', path: '/artifacts/prune', body: {} } as const
  const result = await control(options, call)
  if (options.json) return printJson(result)
  tell(`removed: ${(result as string[]).join(', ') || 'nothing'}`)
}
