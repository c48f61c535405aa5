// ergon db backup delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete } from '#cli/client.ts'
import { backupsPath } from '#cli/databases.ts'
import { printJson, tell } from '#cli/output.ts'

export async function run({ options, words: [name = '', id = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, backupsPath(name, id))
  if (options.json) printJson(JSON.parse(text) as object)
  else tell(`The backup ${id} is deleted`)
}
