// ergon card list.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { methodList } from '#contract/payments/payments.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const list = replyOf<typeof methodList>(await apiGet(options, '/v1/payment-methods'))
  if (options.json) return printJson(list)
  print(
    table(
      ['CARD', 'NAME', 'STATUS', 'PROCESSOR', 'SINCE'],
      list.data.map((one) => [one.id, one.label, one.status, one.processor, one.created_at]),
    ),
  )
}
