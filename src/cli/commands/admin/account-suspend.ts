// ergon admin account suspend.
import { textOption, type CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'

export async function run({ options, words: [account = ''] }: CommandCall): Promise<void> {
  const reason = textOption(options, 'reason')
  if (reason === undefined)
    throw new CommandError(
      'Give the reason, which the owners of the account read',
      EXIT.usage,
      `ergon admin account suspend ${account} --reason "…"`,
    )
  const changed = await control(options, 'account.suspend', { account, reason })
  if (options.json) return printJson(changed)
  tell(`${account} is suspended. To end that: ergon admin account resume ${account}`)
}
