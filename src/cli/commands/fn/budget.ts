// ergon fn budget.
import type { CommandCall } from '#cli/call.ts'
import { changeFunction } from '#cli/functions.ts'
import { printJson, tell } from '#cli/output.ts'

export async function run({
  options,
  words: [name = '', energy = ''],
}: CommandCall): Promise<void> {
  const budget = energy === 'none' ? null : energy
  const made = await changeFunction(options, name, { energy_budget: budget })
  if (options.json) return printJson(made)
  tell(budget === null ? `${name} has no energy budget` : `${name} may use ${energy}`)
}
