// ergon members list.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { memberList, MemberList, MemberReply } from '#contract/accounts/members.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const members: MemberReply[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const after = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page: MemberList = replyOf<typeof memberList>(
      await apiGet(options, `/v1/members?limit=1000${after}`),
    )
    members.push(...page.data)
    cursor = page.next_cursor
  }
  const shown =
    options['all'] === true ? members : members.filter(({ state }) => state !== 'removed')
  if (options.json) return printJson({ object: 'list', data: shown })
  const rows = shown.map((one) => [
    one.id,
    one.name,
    one.role,
    stateOf(one),
    one.contact ?? '',
    one.joined_at ?? '',
  ])
  print(table(['MEMBER', 'NAME', 'ROLE', 'STATE', 'CONTACT', 'JOINED'], rows))
}

function stateOf({ state, current, ...member }: MemberReply): string {
  const until = member.invitation_expires_at
  // An active member has a link that recovers the account or adds a device.
  const link = state === 'active' ? ', recovery link' : ''
  const words = until === null ? state : `${state}${link} until ${until}`
  return current ? `${words} (you)` : words
}
