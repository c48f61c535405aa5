// ergon admin account resume.
import type { CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'

export async function run({ options, words: [account = ''] }: CommandCall): Promise<void> {
  const changed = await control(options, 'account.resume', { account })
  if (options.json) return printJson(changed)
  tell(`${account} is active: its databases and functions wake with the next use`)
}
