// ergon members remove.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, replyOf } from '#cli/client.ts'
import { print, tell } from '#cli/output.ts'
import type { memberReply } from '#contract/accounts/members.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, `/v1/members/${encodeURIComponent(id)}`)
  if (options.json) return print(text)
  const { id: removed, joined_at: joined } = replyOf<typeof memberReply>({ text })
  tell(joined === null ? `The invitation of ${removed} is withdrawn` : `${removed} is removed`)
}
