// ergon artifacts prune: removes other versions and the rests of interrupted fetches.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const removed = await control(options, 'artifact.prune', {})
  if (options.json) return printJson(removed)
  tell(`removed: ${removed.join(', ') || 'nothing'}`)
}
