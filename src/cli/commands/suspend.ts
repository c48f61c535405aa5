// ergon suspend.
import type { CommandCall } from '#cli/call.ts'
import { printJson, tell } from '#cli/output.ts'
import { askWorkload } from '#cli/workloads.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const made = await askWorkload(options, name, 'suspend')
  if (options.json) printJson(made)
  else tell(`${name} is being suspended; resume it: ergon resume ${name}`)
}
