// ergon admin journal drop: posts what can be posted, and sets the rest aside for good.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [process = ''] }: CommandCall): Promise<void> {
  const result = await control(options, 'journal.drop', { process })
  if (options.json) printJson(result)
  else if (result.aside === undefined) tell(`the journal of ${process} could be posted, and is`)
  else tell(`the journal of ${process} is given up; its files are in ${result.aside}`)
}
