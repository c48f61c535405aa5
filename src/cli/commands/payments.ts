// ergon payments: the payments of the account, the newest first.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { dollars } from '#cli/money.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { topupList, TopupReply } from '#contract/payments/payments.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const list = replyOf<typeof topupList>(await apiGet(options, '/v1/topups?limit=100'))
  if (options.json) return printJson(list)
  print(
    table(
      ['PAYMENT', 'WHEN', 'KIND', 'AMOUNT', 'STATUS', 'REFUNDED', 'DETAIL'],
      list.data.map((one) => [
        one.id,
        one.created_at,
        one.kind,
        `${dollars(one.amount_pusd)} ${one.unit}`,
        one.status,
        one.refunded_pusd === '0' ? '' : dollars(one.refunded_pusd),
        one.reason ?? confirmationsOf(one),
      ]),
    ),
  )
}

/** The confirmations of a payment that waits for them. */
const confirmationsOf = ({ status, transfer }: TopupReply): string =>
  status !== 'created' || transfer === null
    ? ''
    : `${transfer.confirmations} of ${transfer.confirmations_needed} confirmations`
