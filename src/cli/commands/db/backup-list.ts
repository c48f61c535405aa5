// ergon db backup list.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { backupsPath, restorableWords, type Backup } from '#cli/databases.ts'
import { print, printJson, table, tell } from '#cli/output.ts'
import { withoutAdvice } from '#contract/resources/passing-reasons.ts'
import type { backupList } from '#contract/databases/databases.ts'

const MB = 1_000_000

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const list = replyOf<typeof backupList>(await apiGet(options, backupsPath(name)))
  if (options.json) return printJson(list)
  const rows = list.data.map((backup) => [
    backup.id,
    backup.kind,
    statusOf(backup),
    backup.ended_at ?? backup.created_at,
    (backup.stored_bytes / MB).toFixed(1),
  ])
  if (rows.length > 0) print(table(['BACKUP', 'KIND', 'STATUS', 'TIME', 'STORED MB'], rows))
  for (const { id, status, reason } of list.data)
    if (reason !== null) tell(`${id} ${status}: ${withoutAdvice(reason)}`)
  if (list.restorable_from === null)
    return tell(
      'There is no backup yet; the first one is taken within a minute, or an hour after one that failed',
    )
  const stored = (list.stored_bytes / MB).toFixed(1)
  tell(`It can be restored to ${restorableWords(list)}; with the log ${stored} MB are stored`)
  if (list.log_lost_from !== null)
    tell(`Rows since ${list.log_lost_from} may be missing: the last part of its log was not stored`)
}

/** With how far it is. */
function statusOf({ status, done_bytes: done, total_bytes: total }: Backup): string {
  if (status !== 'running' || total === null || total === 0) return status
  return `${status}, ${Math.min(100, Math.floor((done / total) * 100))} % read`
}
