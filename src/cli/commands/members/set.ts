// ergon members set.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPatch, replyOf } from '#cli/client.ts'
import { CommandError, EXIT, print, tell } from '#cli/output.ts'
import type { memberReply } from '#contract/accounts/members.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const contact = textOption(options, 'contact')
  const change = {
    role: textOption(options, 'role'),
    name: textOption(options, 'name'),
    contact: contact === 'none' ? null : contact,
  }
  if (Object.values(change).every((value) => value === undefined))
    throw new CommandError('Nothing to change: give --role, --name or --contact', EXIT.usage)
  const { text } = await apiPatch(options, `/v1/members/${encodeURIComponent(id)}`, change)
  if (options.json) return print(text)
  const member = replyOf<typeof memberReply>({ text })
  tell(`${member.id} is ${member.name}, role ${member.role}`)
}
