// ergon admin journal post: tries again, without a restart.
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [process = ''] }: CommandCall): Promise<void> {
  const path = `/journals/${encodeURIComponent(process)}/post`
  const result = await control(options, { method: 'POST', path })
  if (options.json) printJson(result)
  else tell(`the journal of ${process} is posted`)
}
