// ergon db show.
import type { CommandCall } from '#cli/call.ts'
import { getDatabase, printDatabase } from '#cli/databases.ts'
import { printJson } from '#cli/output.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const database = await getDatabase(options, name)
  if (options.json) printJson(database)
  else printDatabase(database)
}
