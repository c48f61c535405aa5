// ergon db resume.
import type { CommandCall } from '#cli/call.ts'
import { changeDatabase, printDatabase, waitForStatus } from '#cli/databases.ts'
import { printJson } from '#cli/output.ts'

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  await changeDatabase(options, name, { suspended: false })
  const database = await waitForStatus(options, name, 'deployed')
  if (options.json) printJson(database)
  else printDatabase(database)
}
