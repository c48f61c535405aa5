// ergon db budget.
import type { CommandCall } from '#cli/call.ts'
import { changeDatabase, printDatabase } from '#cli/databases.ts'
import { printJson } from '#cli/output.ts'

const NONE = 'none'

export async function run({
  options,
  words: [name = '', budget = ''],
}: CommandCall): Promise<void> {
  const change = { energy_budget: budget === NONE ? null : budget }
  const database = await changeDatabase(options, name, change)
  if (options.json) printJson(database)
  else printDatabase(database)
}
