// ergon db resize.
import type { CommandCall } from '#cli/call.ts'
import { changeDatabase, printDatabase } from '#cli/databases.ts'
import { printJson } from '#cli/output.ts'

export async function run({ options, words: [name = '', size = ''] }: CommandCall): Promise<void> {
  const database = await changeDatabase(options, name, { size })
  if (options.json) printJson(database)
  else printDatabase(database)
}
