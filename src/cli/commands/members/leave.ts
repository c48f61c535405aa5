// ergon members leave.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete } from '#cli/client.ts'
import { print, tell } from '#cli/output.ts'
import type { MemberReply } from '#contract/members.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, '/v1/members/me')
  if (options.json) return print(text)
  tell(`${(JSON.parse(text) as MemberReply).id} has left; its tokens are revoked`)
}
