// ergon fn suspend.
import type { CommandCall } from '#cli/call.ts'
import { changeFunction } from '#cli/functions.ts'
import { printJson, tell } from '#cli/output.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const made = await changeFunction(options, name, { suspended: true })
  if (options.json) printJson(made)
  else tell(`${name} is being suspended; resume it: ergon fn resume ${name}`)
}
