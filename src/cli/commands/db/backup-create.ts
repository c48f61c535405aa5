// ergon db backup create: asks for a backup and waits until it is done.
import type { CommandCall } from '#cli/call.ts'
import { apiPost, replyOf } from '#cli/client.ts'
import { backupsPath } from '#cli/databases.ts'
import { print, printJson, tell } from '#cli/output.ts'
import { waitForBackup } from '#cli/restores.ts'
import type { backupReply } from '#contract/databases/databases.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const { text } = await apiPost(options, backupsPath(name), {})
  const { id } = replyOf<typeof backupReply>({ text })
  const backup = await waitForBackup(options, name, id)
  if (options.json) return printJson(backup)
  print(backup.id)
  tell(`It is kept until: ergon db backup delete ${name} ${backup.id}`)
}
