// ergon db show.
import { messageOf } from '#base/errors.ts'
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { backupsPath, getDatabase, printDatabase } from '#cli/databases.ts'
import { printJson, tell } from '#cli/output.ts'
import type { GlobalOptions } from '#cli/profile.ts'
import type { backupList } from '#contract/databases/databases.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const database = await getDatabase(options, name)
  const backups = await backupsOf(options, name)
  if (!options.json) return printDatabase(database, backups)
  const { restorable_from = null, restorable = null } = backups ?? {}
  printJson({ ...database, restorable_from, restorable })
}

/** Undefined where they cannot be read: the database is shown without them. */
async function backupsOf(options: GlobalOptions, name: string) {
  try {
    return replyOf<typeof backupList>(await apiGet(options, backupsPath(name)))
  } catch (error) {
    tell(`Could not read what ${name} can be restored to, the rest follows: ${messageOf(error)}`)
    return undefined
  }
}
