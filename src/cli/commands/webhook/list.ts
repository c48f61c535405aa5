// ergon webhook list.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { WebhookEntry } from '#cli/webhooks.ts'
import type { webhookList } from '#contract/webhooks/webhooks.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const list = replyOf<typeof webhookList>(await apiGet(options, '/v1/webhooks'))
  if (options.json) return printJson(list)
  const rows = list.data.map((one) => [
    one.id,
    one.url,
    one.events.join(','),
    String(one.pending),
    healthOf(one),
  ])
  print(table(['ID', 'URL', 'EVENTS', 'WAITING', 'STATUS'], rows))
}

function healthOf({ status, reason, failures, last_error: error }: WebhookEntry): string {
  if (status === 'disabled') return `disabled: ${reason ?? ''}; ergon webhook resume`
  if (failures === 0) return status
  return `${status}; ${failures} failed in a row: ${error ?? ''}`
}
