// ergon db show.
import type { CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { backupsPath, getDatabase, printDatabase } from '#cli/databases.ts'
import { printJson } from '#cli/output.ts'
import type { backupList } from '#contract/databases.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const database = await getDatabase(options, name)
  if (options.json) return printJson(database)
  const backups = await apiGet(options, backupsPath(name))
  printDatabase(database, replyOf<typeof backupList>(backups))
}
