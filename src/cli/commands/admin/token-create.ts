// ergon admin token create: the secret is printed once, alone on stdout; a pair as a shell sets it.
import { SCOPES } from '#contract/operation.ts'
import { control } from '#cli/client.ts'
import { CommandError, EXIT, print, printJson, tell } from '#cli/output.ts'
import { textOption, type CommandCall } from '#cli/call.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const days = options['expires'] === undefined ? undefined : Number(options['expires'])
  if (days !== undefined && !(days >= 1))
    throw new CommandError('--expires is a number of days', EXIT.usage)
  const given = String(options['scope'] ?? 'read')
  const scope = SCOPES.find((known) => known === given)
  if (scope === undefined)
    throw new CommandError(`--scope is one of ${SCOPES.join(', ')}, not: ${given}`, EXIT.usage)
  const request = {
    scope,
    account: textOption(options, 'account'),
    name: textOption(options, 'name'),
    expires_days: days,
  }
  const isPair = options['keyPair'] === true
  const made = await control(options, isPair ? 'token.create-pair' : 'token.create', request)
  if (options.json) return printJson(made)
  tell(`${made.id}, scope ${made.scope}, account ${made.account}; shown this once:`)
  if ('token' in made) return print(made.token)
  print(`AWS_ACCESS_KEY_ID=${made.access_key_id}`)
  print(`AWS_SECRET_ACCESS_KEY=${made.secret_access_key}`)
}
