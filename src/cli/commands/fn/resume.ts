// ergon fn resume.
import type { CommandCall } from '#cli/call.ts'
import { changeFunction, waitForFunction } from '#cli/functions.ts'
import { print, printJson, tell } from '#cli/output.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  await changeFunction(options, name, { suspended: false })
  const made = await waitForFunction(options, name)
  if (options.json) return printJson(made)
  tell(`${name} is resumed`)
  print(made.url)
}
