// ergon db budget.
import type { CommandCall } from '#cli/call.ts'
import { budgetOf, changeDatabase, printDatabase } from '#cli/databases.ts'
import { printJson } from '#cli/output.ts'

export async function run({
  options,
  words: [name = '', budget = ''],
}: CommandCall): Promise<void> {
  const change = { energy_budget: budgetOf(budget) }
  const database = await changeDatabase(options, name, change)
  if (options.json) printJson(database)
  else printDatabase(database)
}
