// ergon members accept: needs no token; the first token is printed once, alone on stdout.
import type { CommandCall } from '#cli/call.ts'
import { apiPost, replyOf } from '#cli/client.ts'
import { print, tell } from '#cli/output.ts'
import type { acceptedReply } from '#contract/accounts/members.ts'

export async function run({ options, words: [code = ''] }: CommandCall): Promise<void> {
  const { text } = await apiPost(options, '/v1/members/accept', { code }, { public: true })
  if (options.json) return print(text)
  const { id, account, role, first_token: token } = replyOf<typeof acceptedReply>({ text })
  tell(`You are ${id} of ${account}, role ${role}.`)
  tell(`Your first token, scope ${token.scope}, until ${token.expires_at}; shown this once:`)
  print(token.token)
}
