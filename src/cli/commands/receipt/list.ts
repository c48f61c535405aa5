// ergon receipt list: what the account was charged, the newest first.
import { apiGet } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'

type ReceiptEntry = {
  account_seq: string
  id: string
  to: string
  operation: string
  resource?: string
  resource_name?: string
  model?: string
  status: number
  energy_j: number
  charge_pusd: string
}

export async function run({ options }: CommandCall): Promise<void> {
  const query = new URLSearchParams()
  if (options['before'] !== undefined) query.set('cursor', String(options['before']))
  if (options['limit'] !== undefined) query.set('limit', String(options['limit']))
  const { text } = await apiGet(options, `/v1/receipts?${query.toString()}`)
  const list = JSON.parse(text) as { data: ReceiptEntry[]; next_cursor: string | null }
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
