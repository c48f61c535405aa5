// ergon admin recover: the link is printed once, alone on stdout.
import type { CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { print, printJson, tell } from '#cli/output.ts'

export async function run({ options, words: [target = ''] }: CommandCall): Promise<void> {
  const made = await control(options, 'member.recover', { target })
  if (options.json) return printJson(made)
  tell(`${made.member} of ${made.account} adds a passkey here, once, for a day:`)
  print(made.url)
}
