// ergon db backup delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, replyOf } from '#cli/client.ts'
import { backupsPath } from '#cli/databases.ts'
import { printJson, tell } from '#cli/output.ts'
import type { backupDeleted } from '#contract/databases/databases.ts'

export async function run({ options, words: [name = '', id = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, backupsPath(name, id))
  const reply = replyOf<typeof backupDeleted>({ text })
  if (options.json) return printJson(reply)
  tell(
    reply.deleted
      ? `The backup ${id} is deleted`
      : `The times that can be restored begin with the backup ${id}: it stays as a nightly one, and ends with the retention`,
  )
}
