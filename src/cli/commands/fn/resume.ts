// ergon fn resume.
import type { CommandCall } from '#cli/call.ts'
import { changeFunction, waitForFunction } from '#cli/functions.ts'
import { print, printJson } from '#cli/output.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  await changeFunction(options, name, { suspended: false })
  const made = await waitForFunction(options, name)
  if (options.json) printJson(made)
  else print(made.url)
}
