// ergon admin token create: the secret is printed once, alone on stdout; a pair as a shell sets it.
import { SCOPES } from '#contract/operation.ts'
import { control } from '#cli/client.ts'
import { CommandError, EXIT, print, printJson, tell } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const days = options['expires'] === undefined ? undefined : Number(options['expires'])
  if (days !== undefined && !(days >= 1))
    throw new CommandError('--expires is a number of days', EXIT.usage)
  const scope = String(options['scope'] ?? 'read')
  if (!SCOPES.some((known) => known === scope))
    throw new CommandError(`--scope is one of ${SCOPES.join(', ')}, not: ${scope}`, EXIT.usage)
  const body = {
    scope,
    account: options['account'],
    name: options['name'],
    expires_days: days,
    ...(options['keyPair'] === true ? { key_pair: true } : {}),
  }
  const made = (await control(options, { method: 'POST', path: '/tokens', body })) as {
    id: string
    account: string
    scope: string
  } & ({ token: string } | { access_key_id: string; secret_access_key: string })
  if (options.json) return printJson(made)
  tell(`${made.id}, scope ${made.scope}, account ${made.account}; shown this once:`)
  if ('token' in made) return print(made.token)
  print(`AWS_ACCESS_KEY_ID=${made.access_key_id}`)
  print(`AWS_SECRET_ACCESS_KEY=${made.secret_access_key}`)
}
