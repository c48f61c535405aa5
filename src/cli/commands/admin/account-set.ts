// ergon admin account set.
import { control } from '#cli/client.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options, words: [account = ''] }: CommandCall): Promise<void> {
  const refuses = options['refuseTokenPresign']
  if (refuses !== 'on' && refuses !== 'off')
    throw new CommandError(
      refuses === undefined
        ? 'Nothing to change: give --refuse-token-presign'
        : `--refuse-token-presign is on or off, not: ${String(refuses)}`,
      EXIT.usage,
      `ergon admin account set ${account} --refuse-token-presign on`,
    )
  const changed = await control(options, 'account.set', {
    account,
    refuse_token_presign: refuses === 'on',
  })
  if (options.json) return printJson(changed)
  tell(
    `${account}: addresses and forms that bear a token are ${refuses === 'on' ? 'refused' : 'taken'}`,
  )
}
