// ergon tokens list.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import { limitsText } from '#cli/tokens.ts'
import type { tokenList, TokenList, TokenReply } from '#contract/identity/tokens.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const tokens: TokenReply[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const after = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page: TokenList = replyOf<typeof tokenList>(
      await apiGet(options, `/v1/tokens?limit=1000${after}`),
    )
    tokens.push(...page.data)
    cursor = page.next_cursor
  }
  const shown = options['all'] === true ? tokens : tokens.filter(({ status }) => status === 'valid')
  if (options.json) return printJson({ object: 'list', data: shown })
  const rows = shown.map((one) => [
    one.id,
    `${one.hint}…`,
    one.scope,
    one.name,
    one.member.name,
    stateOf(one),
    limitsText(one),
    one.last_used_at ?? 'never',
    one.exposed_at ?? 'no',
  ])
  const head = [
    'TOKEN',
    'BEGINS',
    'SCOPE',
    'NAME',
    'MEMBER',
    'STATE',
    'LIMITS',
    'LAST USED',
    'SEEN IN AN ADDRESS',
  ]
  print(table(head, rows))
}

function stateOf({ status, current, expires_at: expiresAt }: TokenReply): string {
  const until = status === 'valid' && expiresAt !== null ? `until ${expiresAt}` : status
  return current ? `${until} (this one)` : until
}
