// ergon members remove.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete } from '#cli/client.ts'
import { print, tell } from '#cli/output.ts'
import type { MemberReply } from '#contract/members.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, `/v1/members/${encodeURIComponent(id)}`)
  if (options.json) return print(text)
  const { id: removed, joined_at: joined } = JSON.parse(text) as MemberReply
  tell(joined === null ? `The invitation of ${removed} is withdrawn` : `${removed} is removed`)
}
