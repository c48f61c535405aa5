// ergon card list.
import type { CommandCall } from '#cli/call.ts'
import { apiGet } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'

type Card = { id: string; label: string; status: string; processor: string; created_at: string }

export async function run({ options }: CommandCall): Promise<void> {
  const list = JSON.parse((await apiGet(options, '/v1/payment-methods')).text) as { data: Card[] }
  if (options.json) return printJson(list)
  print(
    table(
      ['CARD', 'NAME', 'STATUS', 'PROCESSOR', 'SINCE'],
      list.data.map((one) => [one.id, one.label, one.status, one.processor, one.created_at]),
    ),
  )
}
