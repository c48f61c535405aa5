// ergon toy tallies.
import type { CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { printJson } from '#cli/output.ts'

export async function run({ options }: CommandCall): Promise<void> {
  printJson(await control(options, 'toy.list', { least: 1 }))
}
