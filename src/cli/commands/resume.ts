// ergon resume.
import type { CommandCall } from '#cli/call.ts'
import { print, printJson, tell } from '#cli/output.ts'
import { askWorkload, waitForWorkload } from '#cli/workloads.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const { version, live_version: live } = await askWorkload(options, name, 'resume')
  const made = await waitForWorkload(options, name, live ?? version)
  if (options.json) return printJson(made)
  tell(`${name} is resumed`)
  print(made.url)
}
