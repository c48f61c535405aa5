// ergon db delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, apiGet, replyOf } from '#cli/client.ts'
import { confirmDeletion, isConfirmed } from '#cli/confirm-deletion.ts'
import { backupsPath, databasePath, getDatabase } from '#cli/databases.ts'
import { printJson, tell } from '#cli/output.ts'
import type { ReplyOf } from '#contract/reply-of.ts'
import type { backupList, databaseDeleted } from '#contract/databases/databases.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  if (!isConfirmed(options)) {
    await getDatabase(options, name)
    const { data } = replyOf<typeof backupList>(await apiGet(options, backupsPath(name)))
    const rest = data.some(({ status }) => status === 'done')
      ? 'its backups stay for some days'
      : 'it has no backup, so nothing can be restored'
    const loss = `The database ${name} would be deleted with all its data; ${rest}`
    await confirmDeletion(options, { name, loss, command: `ergon db delete ${name}` })
  }
  const backups = replyOf<typeof backupList>(await apiGet(options, backupsPath(name)))
  const deleted = replyOf<typeof databaseDeleted>(await apiDelete(options, databasePath(name)))
  if (options.json) printJson(deleted)
  else tell(`${name} is deleted. ${afterwards(deleted, name, backups)}`)
}

type Backups = ReplyOf<typeof backupList>

function afterwards(
  { id, restorable_until: until }: ReplyOf<typeof databaseDeleted>,
  name: string,
  backups: Backups,
): string {
  if (until === null) return 'It had no backup yet'
  const last = lastStateOf(backups)
  const restore = ['ergon db restore', id, ...last, '--as', name].join(' ')
  const without = last.length === 0 ? '' : ' without its last rows, as a part of its log was lost'
  return `Until ${until} it can be restored${without}: ${restore}`
}

/** Options of a restore. Where a part of the log behind the last backup was lost, a restore to now would be refused. */
function lastStateOf({ restorable, data }: Backups): string[] {
  const last = restorable.at(-1)
  if (last?.to === null) return []
  const [backup] = data
    .filter(({ status }) => status === 'done')
    .toSorted((a, b) => Date.parse(b.ended_at ?? '') - Date.parse(a.ended_at ?? ''))
  if (backup !== undefined && (last === undefined || (backup.ended_at ?? '') > last.to))
    return ['--backup', backup.id]
  return last === undefined ? [] : ['--to', last.to]
}
