// ergon admin token create: the secret is printed once, alone on stdout.
import { control } from '#cli/client.ts'
import { CommandError, EXIT, print, printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const days = options['expires'] === undefined ? undefined : Number(options['expires'])
  if (days !== undefined && !(days >= 1))
    throw new CommandError('--expires is a number of days', EXIT.usage)
  const body = {
    scope: options['scope'] ?? 'read',
    account: options['account'],
    name: options['name'],
    expires_days: days,
  }
  const made = (await control(options, { method: 'POST', path: '/tokens', body })) as {
    id: string
    token: string
    account: string
    scope: string
  }
  if (options.json) return printJson(made)
  tell(`${made.id}, scope ${made.scope}, account ${made.account}; shown this once:`)
  print(made.token)
}
