// ergon db delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, apiGet, ApiRefusal, replyOf } from '#cli/client.ts'
import { confirmDeletion, isConfirmed } from '#cli/confirm-deletion.ts'
import { backupsPath, databasePath, getDatabase, NOT_FOUND } from '#cli/databases.ts'
import { printJson, tell } from '#cli/output.ts'
import type { GlobalOptions } from '#cli/profile.ts'
import type { ReplyOf } from '#contract/reply-of.ts'
import type { backupList, databaseDeleted } from '#contract/databases/databases.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const backups = replyOf<typeof backupList>(await apiGet(options, backupsPath(name)))
  if (!isConfirmed(options) && (await isThere(options, name))) {
    const rest = backups.data.some(({ status }) => status === 'done')
      ? 'its backups stay for some days'
      : 'it has no backup, so nothing can be restored'
    const loss = `The database ${name} would be deleted with all its data; ${rest}`
    await confirmDeletion(options, { name, loss, command: `ergon db delete ${name}` })
  }
  const deleted = replyOf<typeof databaseDeleted>(await apiDelete(options, databasePath(name)))
  if (options.json) printJson(deleted)
  else tell(`${name} is deleted. ${afterwards(deleted, name, backups)}`)
}

/** False for a database that is deleted already: there is nothing to confirm. */
const isThere = (options: GlobalOptions, name: string): Promise<boolean> =>
  getDatabase(options, name).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ApiRefusal && error.status === NOT_FOUND) return false
      throw error
    },
  )

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
