// ergon members leave.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, replyOf } from '#cli/client.ts'
import { print, tell } from '#cli/output.ts'
import type { memberReply } from '#contract/accounts/members.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, '/v1/members/me')
  if (options.json) return print(text)
  tell(`${replyOf<typeof memberReply>({ text }).id} has left; its tokens are revoked`)
}
