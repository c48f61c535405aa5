// ergon admin journal post: tries again, without a restart.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [process = ''] }: CommandCall): Promise<void> {
  const result = await control(options, 'journal.post', { process })
  if (options.json) printJson(result)
  else tell(`the journal of ${process} is posted`)
}
