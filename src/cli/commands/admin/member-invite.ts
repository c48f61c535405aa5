// ergon admin member invite: the code is printed once, alone on stdout.
import { textOption, type CommandCall } from '#cli/call.ts'
import { control } from '#cli/client.ts'
import { CommandError, EXIT, print, printJson, tell } from '#cli/output.ts'
import { ROLES } from '#contract/identity/roles.ts'

export async function run({
  options,
  words: [account = '', name = ''],
}: CommandCall): Promise<void> {
  const given = textOption(options, 'role') ?? 'owner'
  const role = ROLES.find((known) => known === given)
  if (role === undefined)
    throw new CommandError(`--role is one of ${ROLES.join(', ')}, not: ${given}`, EXIT.usage)
  const made = await control(options, 'member.invite', { account, name, role })
  if (options.json) return printJson(made)
  tell(`${made.id} of ${made.account}, role ${role}, for 7 days; shown this once:`)
  print(made.invitation_code)
}
