// ergon payments: the payments of the account, the newest first.
import type { CommandCall } from '#cli/call.ts'
import { apiGet } from '#cli/client.ts'
import { dollars } from '#cli/money.ts'
import { print, printJson, table } from '#cli/output.ts'

type ListedPayment = {
  id: string
  kind: string
  status: string
  amount_pusd: string
  refunded_pusd: string
  unit: string
  transfer: { confirmations: number; confirmations_needed: number } | null
  reason: string | null
  created_at: string
}

export async function run({ options }: CommandCall): Promise<void> {
  const list = JSON.parse((await apiGet(options, '/v1/topups?limit=100')).text) as {
    data: ListedPayment[]
  }
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

/** Of a payment that waits for them. */
const confirmationsOf = ({ status, transfer }: ListedPayment): string =>
  status !== 'created' || transfer === null
    ? ''
    : `${transfer.confirmations} of ${transfer.confirmations_needed} confirmations`
