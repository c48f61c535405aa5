// ergon receipt list: what the account was charged, the newest first.
import { apiGet, replyOf } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'
import type { receiptList } from '#contract/service-replies.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const query = new URLSearchParams()
  if (options['before'] !== undefined) query.set('cursor', String(options['before']))
  if (options['limit'] !== undefined) query.set('limit', String(options['limit']))
  const list = replyOf<typeof receiptList>(
    await apiGet(options, `/v1/receipts?${query.toString()}`),
  )
  if (options.json) return printJson(list)
  print(
    table(
      ['NUMBER', 'RECEIPT', 'WHEN', 'OPERATION', 'OF', 'STATUS', 'JOULES', 'pUSD'],
      list.data.map((row) => [
        row.account_seq,
        row.id,
        row.to,
        row.operation,
        row.model ?? row.resource_name ?? row.resource ?? '',
        String(row.status),
        String(row.energy_j),
        row.charge_pusd,
      ]),
    ),
  )
  if (list.next_cursor !== null) print(`more: ergon receipt list --before ${list.next_cursor}`)
}
