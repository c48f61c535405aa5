// ergon workloads show.
import type { CommandCall } from '#cli/call.ts'
import { printJson } from '#cli/output.ts'
import { getWorkload, printWorkload } from '#cli/workloads.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const one = await getWorkload(options, name)
  if (options.json) printJson(one)
  else printWorkload(one)
}
