// ergon account restore.
import { apiPost, replyOf } from '#cli/client.ts'
import type { CommandCall } from '#cli/call.ts'
import { printJson, tell } from '#cli/output.ts'
import type { accountDeletionReply } from '#contract/accounts/account-life.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const status = replyOf<typeof accountDeletionReply>(
    await apiPost(options, '/v1/account/restore', {}),
  )
  if (options.json) return printJson(status)
  tell(`${status.id} is as before`)
}
