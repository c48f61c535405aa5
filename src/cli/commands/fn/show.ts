// ergon fn show.
import type { CommandCall } from '#cli/call.ts'
import { getFunction, printFunction } from '#cli/functions.ts'
import { printJson } from '#cli/output.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const one = await getFunction(options, name)
  if (options.json) printJson(one)
  else printFunction(one)
}
