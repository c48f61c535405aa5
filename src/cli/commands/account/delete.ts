// ergon account delete: without the account's id it only lists the things to delete.
import { apiDelete, apiGet, replyOf } from '#cli/client.ts'
import type { CommandCall } from '#cli/call.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import type { accountDeletionReply } from '#contract/accounts/account-life.ts'
import type { accountReply } from '#contract/payments/payments.ts'

export async function run({ options, words: [account] }: CommandCall): Promise<void> {
  if (account === undefined) {
    const { id } = replyOf<typeof accountReply>(await apiGet(options, '/v1/account'))
    throw new CommandError(
      `The account ${id} would be deleted with all that it has`,
      EXIT.usage,
      `ergon account delete ${id}`,
    )
  }
  const body = { confirm: account, at_once: options['atOnce'] === true }
  const status = replyOf<typeof accountDeletionReply>(await apiDelete(options, '/v1/account', body))
  if (options.json) return printJson(status)
  tell(`${status.id} is being deleted.`)
  tell(
    body.at_once
      ? 'Nobody can take it back.'
      : `Until ${status.deletes_at} it can be taken back: ergon account restore`,
  )
}
