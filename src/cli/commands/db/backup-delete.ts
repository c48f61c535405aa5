// ergon db backup delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, replyOf } from '#cli/client.ts'
import { backupsPath } from '#cli/databases.ts'
import { printJson, tell } from '#cli/output.ts'
import type { backupDeleted } from '#contract/databases.ts'

export async function run({ options, words: [name = '', id = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, backupsPath(name, id))
  if (options.json) printJson(replyOf<typeof backupDeleted>({ text }))
  else tell(`The backup ${id} is deleted`)
}
