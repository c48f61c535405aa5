// ergon audit: who changed what of the account, the newest first.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { print, printJson, table } from '#cli/output.ts'
import type { AuditEntry, auditList } from '#contract/accounts/audit.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const query = new URLSearchParams()
  for (const [option, name] of Object.entries(PARAMETERS))
    if (options[option] !== undefined) query.set(name, String(options[option]))
  const list = replyOf<typeof auditList>(await apiGet(options, `/v1/audit?${query.toString()}`))
  if (options.json) return printJson(list)
  const rows = list.data.map(({ at, action, actor, target, details }) => [
    at,
    byOf(actor),
    action,
    target,
    JSON.stringify(details),
  ])
  print(table(['WHEN', 'BY', 'ACTION', 'OF', 'DETAILS'], rows))
  if (list.next_cursor !== null) print(`more: ergon audit --before ${list.next_cursor}`)
}

function byOf(actor: AuditEntry['actor']): string {
  if (actor.type === 'token') return `${actor.member?.name}, token ${actor.name} (${actor.id})`
  return actor.type === 'system' ? 'automatic' : 'the operator'
}

const PARAMETERS = { action: 'action', target: 'target', before: 'cursor', limit: 'limit' }
